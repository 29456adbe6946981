// Rows as records of codes, and frontiers as lists of their chunks: what block 0 goes by in counted.cuh and indexed.cuh.
//
// code      A vertex's code is {number | in-degree | chunks of eight arcs}, 32 bits; of four where rows are short (CHUNK). A row is
//           kept as the codes of its targets, in a record of fixed length. So who meets a vertex knows at once what it would
//           otherwise ask for: how many predecessors are missing, and where the row is.
// list      A frontier is a list of chunks, a lane for each of their arcs. One atomic fetches a vertex's place in the order and
//           those of its chunks.
#pragma once
#include "spots.cuh"

constexpr int chunk_arcs = chunk_bytes / 4, most_chunks = 4;
constexpr int chunk_bits = 3;                  // of a code
constexpr unsigned one_vertex = 1u << 18;      // of a count: vertices above, chunks below

constexpr unsigned odd = 0x9E3779B1u;          // times that, a number's upper bits are a hash

// counts: four, in turns, of {vertices and chunks, why to leave}, then the number of strays. lists: two, of offsets among the records.
// Of counted.cuh alone: buckets of four ways, and one way that belongs to nobody; spare: four words for each thread.
struct Records {
    Spot counts, buckets, lists, spare;
    char* records;
    unsigned* codes;
    int bits, bucket_bits, record_bits;  // of a vertex's number, a bucket's, a record's bytes
    int capacity;                        // chunks in a list
    __device__ Spot strays() const { return skip(counts, 8); }
    __device__ unsigned nobody() const { return 4u << bucket_bits; }
    __device__ unsigned vertex() const { return ~0u << (32 - bits); }                  // where a code has the number
    __device__ unsigned degrees() const { return (1u << (32 - chunk_bits - bits)) - 1; }
    __device__ unsigned counter() const { return (1u << (31 - bits)) - 1; }            // where a way has its count
    __device__ unsigned stray() const { return 1u << (30 - bits); }                    // of a count: it is in another bucket
    __device__ unsigned key(unsigned code) const { return (code & vertex()) >> 1 | 1u << 31; }
    __device__ unsigned bucket(unsigned code) const { return (code & vertex()) * odd >> (32 - bucket_bits); }
};

constexpr unsigned leave = 1, halt = 2;

// memory: of the block's, 4 * (16 + 4 * 2^bucket_bits + 2 * capacity) bytes, and spare.
__device__ inline Records lay_out(unsigned char* memory, unsigned* records, unsigned* codes, int bits, int bucket_bits,
                                  int record_bits, int capacity) {
    const Spot counts = spot(memory), buckets = skip(counts, 12), lists = skip(buckets, (4u << bucket_bits) + 4);
    const Spot spare = skip(lists, 2 * capacity);
    return {counts, buckets, lists, spare, reinterpret_cast<char*>(records), codes, bits, bucket_bits, record_bits, capacity};
}

__device__ inline unsigned chunks_of(int from, int to) { return static_cast<unsigned>(to - from + chunk_arcs - 1) / chunk_arcs; }

__device__ inline void make_codes(const Problem& p, const Records& r) {
    for (int v = global_thread(); v < p.n; v += global_threads()) {
        r.codes[v] = static_cast<unsigned>(v) << (32 - r.bits) | static_cast<unsigned>(__ldcg(p.in_degrees + v)) << chunk_bits |
                     chunks_of(p.first[v], p.last[v]);
    }
}

// Of codes that all blocks have made. Zeros fill a record's last chunk.
__device__ inline void make_records(const Problem& p, const Records& r) {
    for (long long v = global_thread() / chunk_arcs; v < p.n; v += global_threads() / chunk_arcs) {
        const int from = p.first[v], to = p.last[v], part = lane_id() % chunk_arcs;
        unsigned* record = reinterpret_cast<unsigned*>(r.records + (v << r.record_bits));
        for (int k = 0; from + k < to; k += chunk_arcs) {
            const int arc = from + k + part;
            record[k + part] = arc < to ? __ldcg(r.codes + p.targets[arc]) : 0u;
        }
    }
}

__device__ inline void clear_counts(const Records& r) {
    if (threadIdx.x < 8) put_there(skip(r.counts, threadIdx.x), 0);
}

// The frontier as a list of chunks.
__device__ inline void list_frontier(const Problem& p, const Records& r, const Position& at) {
    for (int i = threadIdx.x; i < at.size; i += blockDim.x) {
        const int v = load_relaxed(p.order + at.begin + i);
        const unsigned chunks = chunks_of(p.first[v], p.last[v]);
        const unsigned place = add_there(r.counts, one_vertex | chunks) & (one_vertex - 1);
        if (place + chunks > static_cast<unsigned>(r.capacity)) put_there(skip(r.counts, 1), leave);
        else for (unsigned c = 0; c < chunks; ++c) {
            put_there(skip(r.lists, place + c), (static_cast<unsigned>(v) << r.record_bits) + chunk_bytes * c);
        }
    }
    __syncthreads();
}
