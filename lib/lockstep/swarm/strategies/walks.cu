// Random walks from every vertex of every graph, for embeddings (DeepWalk): a thread a walk.
//
// Step i of walk w from vertex v takes the arc that a hash of (seed, v, w, i) selects: the same walks on every machine,
// in any order, wherever the graph lies in a batch. Parallel arcs count with their multiplicity. After a dead end the
// entries are -1.
//
// compile: ARCS32=0,1
#include "pack.cuh"

__device__ __forceinline__ u64 scrambled(u64 z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

// owner[x]: the graph of vertex x of the pack. out: (vertex, walk, step). checksums: zero before.
extern "C" __global__ void walks(const long long* __restrict__ vertex_start, const long long* __restrict__ arc_start,
                                 const int* __restrict__ owner, const int* __restrict__ offsets,
                                 const Arc* __restrict__ targets, long long vertices, int each, int length,
                                 unsigned long long seed, int* out, u64* checksums) {
    for (long long i = global_thread(); i < vertices * each; i += global_threads()) {
        const long long x = i / each;
        const int walk = (int)(i % each), graph = owner[x];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        int at = (int)(x - p.vertex);
        const u64 key = scrambled(scrambled(seed + 0x9E3779B97F4A7C15ull) + ((u64)(unsigned)at << 32 | (unsigned)walk));
        int* const path = out + i * (length + 1);
        u64 check = 0;
        for (int step = 0;; ++step) {
            path[step] = at;
            check += checksum_term((x - p.vertex) * each * (length + 1LL) + walk * (length + 1LL) + step,
                                   (u64)(long long)at);
            if (step == length) break;
            if (at < 0) continue;
            const unsigned degree = p.offsets[at + 1] - p.offsets[at];
            const u64 word = scrambled(key + (step + 1) * 0x9E3779B97F4A7C15ull);
            at = degree ? (int)p.targets[p.offsets[at] + (unsigned)((word >> 32) * degree >> 32)] : -1;
        }
        atomicAdd(&checksums[graph], check);
    }
}

// owner[x] for all vertices; a block a graph.
extern "C" __global__ void owners(const long long* __restrict__ vertex_start, int graphs, int* owner) {
    for (int graph = blockIdx.x; graph < graphs; graph += gridDim.x) {
        for (long long x = vertex_start[graph] + threadIdx.x; x < vertex_start[graph + 1]; x += blockDim.x) {
            owner[x] = graph;
        }
    }
}
