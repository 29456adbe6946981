// Access to a graph of a pack, and the copy of its rows that a block works on.
//
// Every row of the copy begins at a multiple of four ids and is padded with the id n, a vertex in no frontier. One load
// then returns four neighbors, and the loop over a row has no remainder. Row v begins at the id (offsets[v] + 3 v)
// rounded down to a multiple of four: since a row has at most three padding ids, rows never overlap, and no prefix sum
// is needed.
//
// Parallel arcs count once, as in NetworkX: their repetitions become the id n. copy_rows compares each arc with the one
// before; only if some row is not strictly ascending does remove_duplicates compare every arc with all before it.
//
// WIDE=0: the copy's ids have 16 bits; WIDE=1: 32; ARCS32: the pack's have 32. HOLDS, the contents of shared memory: 2:
// rows and per-vertex state; 1: state alone (the paper's placement: the graph stays in global memory and its caches);
// 0: neither.
#pragma once
#include "device.cuh"

#ifndef HOLDS
#define HOLDS 2
#endif
#ifndef WIDE
#define WIDE 0
#endif
#ifndef ARCS32
#define ARCS32 WIDE
#endif
#if ARCS32
typedef int Arc;
#else
typedef unsigned short Arc;
#endif
#if WIDE
typedef unsigned Id;
struct __align__(16) Quad { Id a, b, c, d; };
typedef uint2 Row;
#else
typedef unsigned short Id;
struct __align__(8) Quad { Id a, b, c, d; };
typedef unsigned Row;
#endif
typedef unsigned long long u64;

// Bump allocator; sizes are rounded up to 16 bytes.
struct BumpAllocator {
    unsigned char* left;
    template <class X> __device__ __forceinline__ X* allocate(long long count) {
        X* const found = (X*)left;
        left += (count * (long long)sizeof(X) + 15) & ~15LL;
        return found;
    }
};

struct Rows {
    Row* rows;      // first quad and number of quads of each vertex
    Quad* quads;
};

__device__ __forceinline__ Rows carve_rows(BumpAllocator& from, int n, int m) {
    Rows g;
    g.rows = from.allocate<Row>(n);
    g.quads = (Quad*)from.allocate<Id>((m + 3LL * n + 3) & ~3LL);
    return g;
}
__device__ __forceinline__ unsigned first_quad(Row r) {
#if WIDE
    return r.x;
#else
    return r & 0xffffu;
#endif
}
__device__ __forceinline__ unsigned quads_of(Row r) {
#if WIDE
    return r.y;
#else
    return r >> 16;
#endif
}

// Copies the rows, eight lanes per row. Called by the whole block, which passes a barrier before it uses them. Returns
// true in threads that found a row not strictly ascending.
__device__ __forceinline__ bool copy_rows(const Rows g, const int* __restrict__ offsets,
                                          const Arc* __restrict__ targets, int n, int threads) {
    const int t = block_thread(), lane = t & 7;
    bool unsorted = false;
    Id* const ids = (Id*)g.quads;
    for (int v = t >> 3; v < n; v += threads >> 3) {
        const int first = offsets[v], degree = offsets[v + 1] - first;
        const unsigned begin = ((unsigned)first + 3u * v) & ~3u, quads = (unsigned)(degree + 3) >> 2;
        if (lane == 0) {
#if WIDE
            g.rows[v] = make_uint2(begin >> 2, quads);
#else
            g.rows[v] = begin >> 2 | quads << 16;
#endif
        }
        for (int i = lane; i < (int)(quads * 4); i += 8) {
            Id id = (Id)n;
            if (i < degree) {
                id = (Id)targets[first + i];
                unsorted |= i > 0 && targets[first + i - 1] >= targets[first + i];
            }
            ids[begin + i] = id;
        }
    }
    return unsorted;
}

// Replaces arcs that repeat an earlier one of their row by the id n. Called by all threads of the block, between
// barriers. One thread processes a row, from its end, so an arc is compared only with arcs not yet replaced.
__device__ __forceinline__ void remove_duplicates(const Rows g, int n, int threads) {
    Id* const ids = (Id*)g.quads;
    for (int v = block_thread(); v < n; v += threads) {
        Id* const row = ids + 4 * first_quad(g.rows[v]);
        for (int i = (int)(4 * quads_of(g.rows[v])) - 1; i > 0; --i) {
            const Id id = row[i];
            for (int j = 0; j < i; ++j) {
                if (row[j] == id) {
                    row[i] = (Id)n;
                    break;
                }
            }
        }
    }
}

// A graph's place in the pack.
struct GraphView {
    int n, m;
    long long vertex, arc;
    const int* offsets;
    const Arc* targets;
};
__device__ __forceinline__ GraphView view_of(int graph, const long long* __restrict__ vertex_start,
                                          const long long* __restrict__ arc_start, const int* offsets,
                                          const Arc* targets) {
    GraphView p;
    p.vertex = vertex_start[graph];
    p.arc = arc_start[graph];
    p.n = (int)(vertex_start[graph + 1] - p.vertex);
    p.m = (int)(arc_start[graph + 1] - p.arc);
    p.offsets = offsets + p.vertex + graph;
    p.targets = targets + p.arc;
    return p;
}

// Returns this block's next item, from a queue that all blocks share; without a queue its own index in the first round,
// then 0xffffffff. `slot`: a word of shared memory. Called by all threads; contains barriers.
__device__ __forceinline__ unsigned next_item(unsigned* queue, unsigned* slot, int round) {
    __syncthreads();
    if (queue == nullptr) return round == 0 ? blockIdx.x : 0xffffffffu;
    if (block_thread() == 0) *slot = atomicAdd(queue, 1u);
    __syncthreads();
    return *slot;
}

// A term of a checksum: a 64-bit hash of the place within the graph and the value there, bijective in the value. Sums
// of these do not depend on their order.
__device__ __forceinline__ u64 checksum_term(u64 place, u64 value) {
    u64 z = value + (place + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
}

// Path counts from 1e37 (float) or 1e300 (double) on are rejected: the reciprocal must be a normal number too. The
// vertex's contribution is NaN, and so is everything computed from it. A thread that meets a NaN sets the top bit of
// the vertex's fixed-point sum, which no sum reaches, and the vertex's value becomes NaN: never a wrong number.
__device__ __forceinline__ float dependency_term(float sigma, float delta) {
    return sigma < 1e37f ? (1.0f + delta) / sigma : __int_as_float(0x7fc00000);
}
__device__ __forceinline__ double dependency_term(double sigma, double delta) {
    return sigma < 1e300 ? (1.0 + delta) / sigma : __longlong_as_double(0x7ff8000000000000LL);
}
#define OVERFLOWED (1ull << 63)

// Fraction bits of the fixed point in which a graph's dependencies are summed: sums over n sources of up to n each fit
// 62 bits. Integer sums do not depend on the order.
__device__ __forceinline__ int fraction_bits(int n) {
    const int bits = 61 - 2 * (32 - __clz(n));
    return bits < 40 ? bits : 40;
}
