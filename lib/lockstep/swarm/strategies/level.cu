// The conventional GPU code: a launch for each level of each source, all data in global memory, the host between
// levels.
//
// The kernels process the vertices of any number of graphs at once, each graph from its source number i: with one graph
// they do what a framework for one large graph does; all graphs of a batch are one large block-diagonal graph.
// graph.
//
// compile: REAL=double ARCS32=0,1
// compile: REAL=float
#include "pack.cuh"

#ifndef DISTANCE
#define DISTANCE short
#endif

__device__ __forceinline__ float product(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double product(double a, double b) { return __dmul_rn(a, b); }

// Vertices first ... first + count - 1 of the pack: level 0 for the i-th vertex of every graph.
extern "C" __global__ void begin(long long first, long long count, const int* __restrict__ owner,
                                 const long long* __restrict__ vertex_start, int i, int* level, REAL* sigma) {
    const long long x = first + global_thread();
    if (x >= first + count) return;
    const bool source = x - vertex_start[owner[x]] == i;
    level[x] = source ? 0 : -1;
    if (sigma != nullptr) sigma[x] = source ? (REAL)1 : (REAL)0;
}

// Assigns level d to unvisited out-neighbors of level d - 1. in_offsets, in_targets: the graphs transposed.
extern "C" __global__ void forward(long long first, long long count, const int* __restrict__ owner,
                                   const long long* __restrict__ vertex_start, const long long* __restrict__ arc_start,
                                   const int* __restrict__ in_offsets, const Arc* __restrict__ in_targets, int d,
                                   int* level, REAL* sigma, int* found) {
    const long long x = first + global_thread();
    if (x >= first + count || level[x] >= 0) return;
    const int graph = owner[x];
    const GraphView p = view_of(graph, vertex_start, arc_start, in_offsets, in_targets);
    const int v = (int)(x - p.vertex);
    REAL sum = 0;
    bool reached = false;
    for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
        const long long u = p.vertex + p.targets[a];
        if (load_relaxed(&level[u]) != d - 1) continue;
        reached = true;
        if (sigma == nullptr) break;
        sum += sigma[u];
    }
    if (!reached) return;
    if (sigma != nullptr) sigma[x] = sum;
    store_relaxed(&level[x], d);
    *found = d;
}

// The dependencies of level d from those of level d + 1.
extern "C" __global__ void backward(long long first, long long count, const int* __restrict__ owner,
                                    const long long* __restrict__ vertex_start, const long long* __restrict__ arc_start,
                                    const int* __restrict__ offsets, const Arc* __restrict__ targets, int d, int i,
                                    int endpoints, const int* __restrict__ level, const REAL* __restrict__ sigma,
                                    REAL* given, u64* fixed) {
    const long long x = first + global_thread();
    if (x >= first + count || level[x] != d) return;
    const GraphView p = view_of(owner[x], vertex_start, arc_start, offsets, targets);
    const int v = (int)(x - p.vertex), fraction = fraction_bits(p.n);
    REAL sum = 0;
    for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
        const long long w = p.vertex + p.targets[a];
        if (level[w] == d + 1) sum += given[w];
    }
    const REAL delta = product(sigma[x], sum);
    given[x] = dependency_term(sigma[x], delta);
    u64 share = endpoints ? 1ull << fraction : 0ull;
    if (given[x] == given[x]) share += (u64)(long long)product(delta, (REAL)(1LL << fraction));
    else atomicOr(&fixed[x], OVERFLOWED);
    atomicAdd(&fixed[x], share);
    if (endpoints) {
        atomicAdd(&fixed[p.vertex + i], 1ull << fraction);
    }
}

// Row i of every graph's matrix.
extern "C" __global__ void keep(long long first, long long count, const int* __restrict__ owner,
                                const long long* __restrict__ vertex_start, int i, const int* __restrict__ level,
                                const long long* __restrict__ matrix_start, DISTANCE* matrix) {
    const long long x = first + global_thread();
    if (x >= first + count) return;
    const int graph = owner[x];
    const long long begin = vertex_start[graph], n = vertex_start[graph + 1] - begin;
    if (i < n) matrix[matrix_start[graph] + i * n + (x - begin)] = (DISTANCE)level[x];
}

// Closeness sums of source i over all vertices of its graph.
extern "C" __global__ void count_levels(long long first, long long count, const int* __restrict__ owner,
                                        const long long* __restrict__ vertex_start, int i,
                                        const int* __restrict__ level, u64* total, u64* reciprocal, unsigned* reach) {
    const long long x = first + global_thread();
    if (x >= first + count || level[x] <= 0) return;
    const long long source = vertex_start[owner[x]] + i;
    atomicAdd(&total[source], (u64)level[x]);
    atomicAdd(&reciprocal[source], (1ull << 40) / (unsigned)level[x]);
    atomicAdd(&reach[source], 1u);
}
