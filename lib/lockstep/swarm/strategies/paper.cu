// SwarmGraph as published: one graph at a time, a block for each source, levels separated by the block's barrier.
//
// The graph stays in global memory and its caches, where rows are read sequentially; what is read and written at random
// (levels, path counts, dependencies) lies in shared memory. With STATE_IN_GLOBAL=1 that lies in global memory too, as
// in the frameworks the paper compares with: the difference is the gain from the placement. A single kernel processes a
// source from its first level to its last, so a graph costs one launch (all distances) or two (closeness and
// betweenness: sources, then sums).
//
// The paper leaves open how a block processes a level. Here a thread takes every blockDim-th vertex: for distances a
// vertex of the present level scans its row (push); for path counts an unvisited vertex scans its in-arcs in order
// (pull), so that sums are the same in every run. A level may be read while it is written; the load then returns -1 or
// the next level, neither of which is the level tested for (a race detector still reports it).
//
// compile: REAL=double STATE_IN_GLOBAL=0,1
// compile: REAL=double ARCS32=1
// compile: REAL=float
//
// Reference: the study's paper; Brandes 2001.
#include "pack.cuh"

__device__ __forceinline__ float product(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double product(double a, double b) { return __dmul_rn(a, b); }

__device__ __forceinline__ BumpAllocator metadata(unsigned char* shared, unsigned char* scratch, long long stride) {
#if STATE_IN_GLOBAL
    return BumpAllocator{scratch + (long long)blockIdx.x * stride};
#else
    return BumpAllocator{shared};
#endif
}

// A block for each source: its row of the matrix; -1 where there is no path.
template <class Distance>
__device__ __forceinline__ void traverse(const GraphView p, BumpAllocator state, Distance* row) {
    int* const level = state.allocate<int>(p.n);
    for (int v = threadIdx.x; v < p.n; v += blockDim.x) level[v] = v == (int)blockIdx.x ? 0 : -1;
    __syncthreads();
    for (int d = 0;; ++d) {
        bool found = false;
        for (int v = threadIdx.x; v < p.n; v += blockDim.x) {
            if (load_relaxed(&level[v]) != d) continue;
            for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
                const int w = p.targets[a];
                if (load_relaxed(&level[w]) < 0) {
                    store_relaxed(&level[w], d + 1);
                    found = true;
                }
            }
        }
        if (!__syncthreads_or(found)) break;
    }
    for (int v = threadIdx.x; v < p.n; v += blockDim.x) row[v] = (Distance)level[v];
}

extern "C" __global__ void sources_short(int graph, const long long* __restrict__ vertex_start,
                                         const long long* __restrict__ arc_start, const int* __restrict__ offsets,
                                         const Arc* __restrict__ targets, unsigned char* scratch, long long stride,
                                         short* matrix) {
    DYNAMIC_SHARED(unsigned char, shared);
    const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
    traverse(p, metadata(shared, scratch, stride), matrix + (long long)blockIdx.x * p.n);
}

extern "C" __global__ void sources_int(int graph, const long long* __restrict__ vertex_start,
                                       const long long* __restrict__ arc_start, const int* __restrict__ offsets,
                                       const Arc* __restrict__ targets, unsigned char* scratch, long long stride,
                                       int* matrix) {
    DYNAMIC_SHARED(unsigned char, shared);
    const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
    traverse(p, metadata(shared, scratch, stride), matrix + (long long)blockIdx.x * p.n);
}

// One block: closeness' sums, a warp for each row of the matrix. Rounding down the double nearest to 2^40 / d divides the
// integers: a quotient that is no integer is at least 1 / d below the next one, and the double at most 2^-13 / d off.
extern "C" __global__ void sum_distances(int graph, const long long* __restrict__ vertex_start,
                                         const int* __restrict__ matrix, u64* total, u64* reciprocal, unsigned* reach) {
    const long long first = vertex_start[graph];
    const int n = (int)(vertex_start[graph + 1] - first), lane = lane_id();
    for (int v = warp_id(); v < n; v += blockDim.x >> 5) {
        u64 sum = 0, parts = 0;
        unsigned found = 0;
        for (int t = lane; t < n; t += 32) {
            const int d = matrix[(long long)v * n + t];
            if (d <= 0) continue;
            sum += d;
            parts += (u64)(1.0 / d * (double)(1ull << 40));
            ++found;
        }
        for (int o = 16; o; o >>= 1) {
            sum += __shfl_xor_sync(full_mask, sum, o);
            parts += __shfl_xor_sync(full_mask, parts, o);
            found += __shfl_xor_sync(full_mask, found, o);
        }
        if (lane == 0) {
            total[first + v] = sum;
            reciprocal[first + v] = parts;
            reach[first + v] = found;
        }
    }
}

// A block for each source: its dependencies on all vertices, in fixed point, one row of `shares`.
//
// compute-sanitizer's racecheck reports hazards here, all between the store of level[v] and the loads of neighbors'
// levels in the forward phase. Both are relaxed accesses to one word; a load returns -1 or last + 1, and only `last`
// has an effect, so either will do. Path counts are read only after a barrier. A second array of levels would silence
// the report, at the cost of the shared memory that the paper's placement saves.
extern "C" __global__ void sources_shares(int graph, const long long* __restrict__ vertex_start,
                                          const long long* __restrict__ arc_start, const int* __restrict__ offsets,
                                          const Arc* __restrict__ targets, const int* __restrict__ in_offsets,
                                          const Arc* __restrict__ in_targets, int endpoints, unsigned char* scratch,
                                          long long stride, u64* shares) {
    DYNAMIC_SHARED(unsigned char, shared);
    const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
    const GraphView in = view_of(graph, vertex_start, arc_start, in_offsets, in_targets);
    BumpAllocator state = metadata(shared, scratch, stride);
    REAL* const sigma = state.allocate<REAL>(p.n);
    REAL* const given = state.allocate<REAL>(p.n);
    int* const level = state.allocate<int>(p.n);
    unsigned* const reached = state.allocate<unsigned>(1);
    u64* const row = shares + (long long)blockIdx.x * p.n;
    const int n = p.n, source = blockIdx.x, fraction = fraction_bits(n);
    const REAL scale = (REAL)(1LL << fraction);
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        level[v] = v == source ? 0 : -1;
        sigma[v] = v == source ? (REAL)1 : (REAL)0;
        row[v] = 0;
    }
    if (threadIdx.x == 0) *reached = 0;
    __syncthreads();
    int last = 0;
    for (;; ++last) {
        bool found = false;
        for (int v = threadIdx.x; v < n; v += blockDim.x) {
            if (load_relaxed(&level[v]) >= 0) continue;
            REAL sum = 0;
            for (int a = in.offsets[v]; a < in.offsets[v + 1]; ++a) {
                if (load_relaxed(&level[in.targets[a]]) == last) sum += sigma[in.targets[a]];
            }
            if (sum != 0) {
                sigma[v] = sum;
                store_relaxed(&level[v], last + 1);
                found = true;
                if (endpoints) atomicAdd(reached, 1u);
            }
        }
        if (!__syncthreads_or(found)) break;
    }
    for (int d = last; d > 0; --d) {
        for (int v = threadIdx.x; v < n; v += blockDim.x) {
            if (level[v] != d) continue;
            REAL sum = 0;
            for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
                if (level[p.targets[a]] == d + 1) sum += given[p.targets[a]];
            }
            const REAL delta = product(sigma[v], sum);
            given[v] = dependency_term(sigma[v], delta);
            row[v] = given[v] == given[v] ? (u64)(long long)product(delta, scale) : OVERFLOWED;
            if (endpoints) row[v] += 1ull << fraction;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0 && endpoints) row[source] = (u64)*reached << fraction;
}

// One block: betweenness, a thread for each column of `shares`.
extern "C" __global__ void sum_shares(int graph, const long long* __restrict__ vertex_start,
                                      const u64* __restrict__ shares, u64* fixed) {
    const long long first = vertex_start[graph];
    const int n = (int)(vertex_start[graph + 1] - first);
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        u64 sum = 0, bad = 0;
        for (int s = 0; s < n; ++s) {
            sum += shares[(long long)s * n + v] & ~OVERFLOWED;
            bad |= shares[(long long)s * n + v] & OVERFLOWED;
        }
        fixed[first + v] = sum | bad;
    }
}
