// Rows as records of codes, frontiers as lists of codes, and counters in shared memory: the data that block 0 processes
// in indexed.cuh.
//
// slot      A counter of RECORDS bits in shared memory: {epoch | predecessors done}. With as many slots as vertices
//           each vertex has its own. Otherwise several share a slot one after another, and the epoch is a vertex's rank
//           among them; numbering.cuh assigns slots and epochs such that two vertices of a slot are rarely counted at a
//           time. An arc increments its target's slot unconditionally; the old value shows whether that was the last
//           predecessor, and whether the slot was at the target's epoch.
// code      {slot | epoch | in-degree - 1 | 1 | chunks - 1} of a vertex, 32 bits; its first two parts are the vertex's
//           number. A row is kept as the codes of its targets, in a record of fixed length. So a code gives the
//           counter's address, the in-degree and the record's address without a load.
// list      A frontier is a list of codes; CHUNK / 2 lanes process each, two arcs per lane. The further chunks of rows
//           of more than CHUNK arcs are listed from the list's end backwards.
#pragma once
#include "shared_address.cuh"

#ifndef LIST
#define LIST 1020  // words. A level reads at most LIST chunks of CHUNK <= 16 arcs: fewer than 2^14 vertices get ready,
// which is what a count's upper 14 bits hold (vertex_unit).
#endif
constexpr int list_words = LIST, slot_bits = RECORDS;
static_assert(LIST * CHUNK < 1 << 14, "a count would overflow");
constexpr int chunk_bytes = 4 * CHUNK, chunk_lanes = CHUNK / 2;
constexpr int chunk_bits = 3;  // low bits of a code: marker, further chunks
constexpr unsigned code_marker = 4, chunk_mask = 3;
// A count: upper half 4 x vertices (a byte offset), lower half further chunks.
constexpr unsigned vertex_unit = 1u << 18;
constexpr unsigned slots_per_word = 32 / slot_bits;
constexpr int bins = 512, most_rounds = 32, extra_ints = 3 + bins + most_rounds;  // each round doubles the jumps
// Reasons for block 0 to stop; after any but `halt` its last level is discarded.
constexpr unsigned halt = 1, no_room = 2, slot_conflicts = 4;

// Shared memory from `counts` on, 4 * (40 + 2 * list_words + blockDim.x) bytes: four counts, used in rotation, of
// {vertices and further chunks, reasons to stop}; two lists of codes of up to max_vertices + 1; lane_dummy: a dummy
// word for each lane, updated by lanes without an arc; thread_dummy: one for each thread.
struct Records {
    SharedAddress counts;
    char* records;
    unsigned* codes;
    int *number_of, *vertex_of;  // number of each vertex, and the inverse; null: the identity
    int* workspace;              // extra_ints, then the initial slots
    int slots, epoch_bits, degree_bits;
    unsigned record_bytes;
    int max_vertices;
    __device__ SharedAddress lists() const { return skip(counts, 8); }
    __device__ SharedAddress lane_dummy() const { return skip(counts, 8 + 2 * list_words); }
    __device__ SharedAddress thread_dummy() const { return skip(counts, 40 + 2 * list_words); }
    __device__ int* no_room_flag() const { return workspace; }  // see find_counters
    __device__ int* placed() const { return workspace + 1; }    // see fetch_ahead
    // Initial slots: see find_counters.
    __device__ unsigned* initial_slots() const { return reinterpret_cast<unsigned*>(workspace) + extra_ints; }
    // Bin sizes, largest number of steps, change flag per round: numbering.cuh.
    __device__ int* totals() const { return workspace + 2; }
    __device__ int to_number() const { return degree_bits + chunk_bits; }
    // Mask of a slot, and of code >> chunk_bits.
    __device__ unsigned field() const { return (1u << (epoch_bits + degree_bits)) - 1; }
    __device__ unsigned degrees() const { return (1u << degree_bits) - 1; }
    __device__ unsigned number(int v) const { return number_of ? number_of[v] : v; }
    __device__ int vertex(unsigned number) const { return vertex_of ? vertex_of[number] : number; }
    __device__ int words() const { return (slots + slots_per_word - 1) / slots_per_word; }
};

__device__ __noinline__ void make_codes(const Problem p, const Records r) {
    for (int v = global_thread(); v < p.n; v += global_threads()) {
        const unsigned left = __ldcg(p.in_degrees + v);
        const unsigned chunks = max(1u, static_cast<unsigned>(p.last[v] - p.first[v] + CHUNK - 1) / CHUNK);
        r.codes[v] = r.number(v) << r.to_number() | (left - 1 & r.degrees()) << chunk_bits | code_marker | (chunks - 1);
    }
}

// Calls visit(key(v), k, value(target)) for arc k of each row v, and pads the last chunk with value(-1); an empty row
// has one chunk. CHUNK threads share a row and load several rows at a time.
template <class Key, class Value, class Visit>
__device__ inline void for_arcs(const Problem& p, Key key, Value value, Visit visit) {
    constexpr int together = 4;
    const int groups = global_threads() / CHUNK, part = lane_id() % CHUNK;
    for (long long base = global_thread() / CHUNK; base < p.n; base += static_cast<long long>(groups) * together) {
        int from[together], to[together];
        unsigned keys[together], values[together];
#pragma unroll
        for (int j = 0; j < together; ++j) {
            const long long v = base + static_cast<long long>(j) * groups;
            from[j] = v < p.n ? p.first[v] : 0;
            to[j] = v < p.n ? p.last[v] : -1;  // no row
            keys[j] = v < p.n ? key(static_cast<int>(v)) : 0u;
        }
        auto target = [&](int j, int k) { return value(from[j] + k < to[j] ? p.targets[from[j] + k] : -1); };
#pragma unroll
        for (int j = 0; j < together; ++j) values[j] = target(j, part);
#pragma unroll
        for (int j = 0; j < together; ++j) {
            if (to[j] < 0) continue;
            visit(keys[j], part, values[j]);
            for (int k = CHUNK; from[j] + k < to[j]; k += CHUNK) visit(keys[j], k + part, target(j, k + part));
        }
    }
}

// Writes records from codes that all blocks have made. Zeros fill a record's last chunk; no code is zero.
__device__ __noinline__ void make_records(const Problem p, const Records r) {
    for_arcs(p, [&](int v) { return r.number(v); },
             [&](int target) { return target < 0 ? 0u : __ldcg(r.codes + target); },
             [&](unsigned number, int k, unsigned code) {
                 reinterpret_cast<unsigned*>(r.records + static_cast<unsigned long long>(number) * r.record_bytes)[k] =
                     code;
             });
}

// Computes the slots at the start of block 0's levels: each slot counts its first vertex with predecessors left. If
// another of its vertices has lost some already, the slot cannot hold both counts: *no_room_flag() becomes 1.
__device__ __noinline__ void find_counters(const Problem p, const Records r) {
    const int all = r.words() * slots_per_word;
    for (int slot = global_thread(); slot - static_cast<int>(lane_id()) < all; slot += global_threads()) {
        unsigned epoch = 0, value = 0;
        bool found = false;
        for (int place = slot; slot < r.slots && place < p.n; place += r.slots) {
            const int v = r.vertex(slot << r.epoch_bits | epoch);
            const unsigned left = __ldcg(p.in_degrees + v),
                whole = (__ldcg(r.codes + v) >> chunk_bits & r.degrees()) + 1;
            if (left && !found) {
                value = epoch << r.degree_bits | (whole - left);
                found = true;
            } else if (left && left != whole) {
                store_relaxed(r.no_room_flag(), 1);
            }
            ++epoch;
        }
        unsigned word = ((found ? value : epoch << r.degree_bits) & r.field()) << slot % slots_per_word * slot_bits;
        for (unsigned other = 1; other < slots_per_word; other *= 2) word |= __shfl_xor_sync(full_mask, word, other);
        if (slot < all && slot % slots_per_word == 0) r.initial_slots()[slot / slots_per_word] = word;
    }
}

// Run by another block while block 0 processes levels alone: prefetches into L2 the first chunks of records of vertices
// that get ready soon, since L2 does not hold all records. A vertex's place in numbering.cuh determines its number;
// *placed() is the number of vertices that block 0 has placed, -1 after its last level.
constexpr int look_ahead = 1 << 16;  // vertices: their places are estimates

__device__ __noinline__ void fetch_ahead(const Problem p, const Records r) {
    for (int done = 0, now; (now = load_relaxed(r.placed())) >= 0; pause(1000)) {
        const int until = min(p.n, now + look_ahead);
        for (int place = max(done, now) + threadIdx.x; place < until; place += blockDim.x) {
            const unsigned epoch = place / r.slots, number = (place - epoch * r.slots) << r.epoch_bits | epoch;
            const char* record = r.records + static_cast<unsigned long long>(number) * r.record_bytes;
            for (int k = 0; k < chunk_bytes; k += 32) prefetch_l2(record + k);
        }
        done = until;
    }
}

// Enters the further chunks of a vertex's row into a list, behind those already entered; false if there is no room.
__device__ inline bool enter_chunks(const Records& r, SharedAddress list, unsigned old_count, unsigned code) {
    const unsigned entered = old_count & 0xffff, chunks = code & chunk_mask;
    if (entered + chunks > list_words - r.max_vertices - 1) return false;
    for (unsigned c = 1; c <= chunks; ++c) store_at(skip(list, list_words - entered - c), code - chunks + c);
    return true;
}

// Block 0 loads the slots' values from find_counters into shared memory and writes the frontier as a list.
__device__ inline void load_counters(const Problem& p, const Records& r, const Position& frontier) {
    for (int w = threadIdx.x; w < r.words(); w += blockDim.x)
        store_at(skip(shared_address(p.hot), w), __ldcg(r.initial_slots() + w));
    for (int i = threadIdx.x; i < 8 + 2 * list_words; i += blockDim.x) store_at(skip(r.counts, i), 0);
    __syncthreads();
    for (int i = threadIdx.x; i < frontier.size; i += blockDim.x) {
        const unsigned code = __ldcg(r.codes + load_relaxed(p.order + frontier.begin + i));
        p.order[frontier.begin + i] = code >> r.to_number();
        store_at(skip(r.lists(), i), code);
        const unsigned old_count = add_at(r.counts, vertex_unit | (code & chunk_mask));
        if (!enter_chunks(r, r.lists(), old_count, code)) or_at(skip(r.counts, 1), no_room);
    }
    __syncthreads();
}

// All blocks write back the levels that block 0 has processed since the state `before`: they map numbers in the order
// to vertices, decrement the in-degrees of these vertices' successors unless the frontier is empty, and write the
// frontier's rows into the queue, since a list has an order of its own. Valid after the next barrier.
__device__ __noinline__ void write_back(const Problem p, const Records r, Word* queue, const FrontierState before,
                                        const FrontierState frontier) {
    for (int i = before.begin + global_thread(); i < frontier.begin + frontier.size; i += global_threads()) {
        const int v = r.vertex(load_relaxed(p.order + i));
        if (r.vertex_of) p.order[i] = v;
        if (i >= frontier.begin) store_relaxed(queue + i, bounds({p.first, p.last, p.targets}, v));
        else if (frontier.size > 0)
            for (int arc = p.first[v]; arc < p.last[v]; ++arc) atomicSub(p.in_degrees + p.targets[arc], 1);
    }
}
