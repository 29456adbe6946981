// Betweenness of many small graphs: a lane for each source, a warp for each vertex, a block for each graph.
//
// What it computes: for every vertex v the sum over all sources s of delta_s(v), the share of shortest paths from s that
// pass through v (Brandes), in 64-bit fixed point.
//
// The idea: 32 sources go through the graph together. A warp takes one vertex and walks along its row once for all of
// them: lane i keeps the path count of source s0 + i, and value[v][lane] lies in shared memory so that a warp's 32 loads
// hit 32 banks. Degrees may be as skewed as they like; no lane waits for another's longer row, and no bank conflicts
// arise, whatever the graph. Which of the 32 sources have v in the present level is one word, seen by all lanes at once.
//
// Why it is deterministic to the bit: a vertex collects from its predecessors (forward) and its successors (backward) in
// the order of its row, one lane for one source; what sources give is rounded down to fixed point and added as whole
// numbers. Any assignment of sources to lanes, warps, blocks or GPUs gives the same bits, and so does a plain loop on a
// CPU that adds in the same order.
//
// One array does for both directions: once a vertex of level d has its dependency, only g = (1 + delta) / sigma is asked
// for by level d - 1, and g takes sigma's place. The levels themselves are kept as bit planes: bit k of the level of v
// under source i is bit i of planes[k][v]. Four planes lie in shared memory, the rest (levels from 16 on) in global.
//
// REAL: float or double. WIDTH: lanes and sources of a group, 32 to 4; fewer when 32 do not fit into shared memory, or
// when one graph alone shall be spread over many multiprocessors.
//
// compile: REAL=float WIDTH=32
// compile: REAL=float WIDTH=16
// compile: REAL=float WIDTH=8
// compile: REAL=double WIDTH=32
// compile: REAL=double WIDTH=16
// compile: REAL=double WIDTH=8 HOLDS=1
// compile: REAL=double WIDTH=32 HOLDS=0 WIDE=1
//
// References: Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociol. 2001; multi-source traversal in
// words: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
#include "pack.cuh"

#define PLANES 4
#define HALF 25  // bits of a summand that one 32-bit reduction over a warp can take

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }

// items: graph, first group, groups. in_offsets, in_targets: the graph turned round; of undirected graphs the same arrays.
extern "C" __global__ void __launch_bounds__(1024, 1) betweenness(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    const int* __restrict__ in_offsets, const Arc* __restrict__ in_targets, int directed, int endpoints,
    unsigned char* scratch, long long stride, u64* fixed) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int threads = blockDim.x, t = block_thread();
    const int lane = t & (WIDTH - 1), sub = t / WIDTH, subs = threads / WIDTH;  // subs is a power of two
    const int shift = (t & 31) & ~(WIDTH - 1);
    const unsigned all = WIDTH == 32 ? full_mask : (1u << (WIDTH & 31)) - 1u;   // a group's lanes, counted from 0
    const unsigned mine = all << shift;                                          // the same lanes in their warp
    const unsigned bit = 1u << lane;
    unsigned char* const own = scratch + (long long)blockIdx.x * stride;

    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item], first = items[3 * item + 1], groups = items[3 * item + 2];
        const Place p = place_of(graph, vertex_start, arc_start, offsets, targets);
        const int n = p.n;

        Carver in_shared{shared + 16}, in_global{own};
        unsigned* const far = in_global.take<unsigned>((long long)(32 - PLANES) * n);
#if HOLDS == 0
        Carver& state = in_global;
#else
        Carver& state = in_shared;
#endif
#if HOLDS == 2
        Carver& graphs = in_shared;
#else
        Carver& graphs = in_global;
#endif
        REAL* const value = state.take<REAL>((long long)n * WIDTH);
        u64* const sums = state.take<u64>(n);
        unsigned* front = state.take<unsigned>(n + 1);
        unsigned* next = state.take<unsigned>(n + 1);
        unsigned* const seen = state.take<unsigned>(n);
        unsigned* const near = state.take<unsigned>((long long)PLANES * n);
        const Rows out = carve_rows(graphs, n, p.m);
        const Rows in = directed ? carve_rows(graphs, n, p.m) : out;

        bool unsorted = copy_rows(out, p.offsets, p.targets, n, threads);
        if (directed) {
            const int* const turned = in_offsets + p.vertex + graph;
            unsorted |= copy_rows(in, turned, in_targets + p.arc, n, threads);
        }
        if (__syncthreads_or(unsorted)) {
            blank_repeated(out, n, threads);
            if (directed) blank_repeated(in, n, threads);
        }
        for (int v = t; v < n; v += threads) sums[v] = 0;
        const int fraction = fraction_bits(n);
        const REAL scale = (REAL)(1LL << fraction);

        for (int group = first; group < first + groups; ++group) {
            const int s0 = group * WIDTH;
            const unsigned live = n - s0 >= WIDTH ? all : (1u << (n - s0)) - 1u;
            __syncthreads();
            for (int v = t; v < n; v += threads) {
                const unsigned start = v >= s0 && v < s0 + WIDTH ? 1u << (v - s0) : 0u;
                front[v] = seen[v] = start;
                if (start) value[(long long)v * WIDTH + (v - s0)] = 1;
                for (int k = 0; k < PLANES; ++k) near[(long long)k * n + v] = 0;
            }
            if (t == 0) front[n] = next[n] = 0;
            __syncthreads();

            // Forward: the path counts, level by level.
            int level = 1, reached = 0;
            for (;; ++level) {
                if (level == 1 << PLANES) {
                    for (long long i = t; i < (long long)(32 - PLANES) * n; i += threads) far[i] = 0;
                    __syncthreads();
                }
                bool found = false;
                // A group looks at as many vertices as it has lanes and then takes those that need work, one by one.
                for (int base = 0; base < n; base += subs * WIDTH) {
                    const int look = base + lane * subs + ((sub + lane) & (subs - 1));
                    const bool open = look < n && (live & ~seen[look < n ? look : 0]) != 0;
                    if (look < n && !open) next[look] = 0;
                    unsigned todo = __ballot_sync(mine, open) >> shift;
                    while (todo) {
                        const int j = __ffs(todo) - 1;
                        todo &= todo - 1;
                        const int v = base + j * subs + ((sub + j) & (subs - 1));
                        const unsigned before = seen[v], me = bit & live & ~before;
                        const Row row = in.rows[v];
                        const Quad* quad = in.quads + first_quad(row);
                        REAL sum = 0;
                        for (int k = quads_of(row); k > 0; --k) {
                            const Quad q = *quad++;
                            const unsigned fa = front[q.a] & me, fb = front[q.b] & me;
                            const unsigned fc = front[q.c] & me, fd = front[q.d] & me;
                            if (fa) sum += value[(long long)q.a * WIDTH + lane];
                            if (fb) sum += value[(long long)q.b * WIDTH + lane];
                            if (fc) sum += value[(long long)q.c * WIDTH + lane];
                            if (fd) sum += value[(long long)q.d * WIDTH + lane];
                        }
                        const unsigned got = __ballot_sync(mine, sum != 0) >> shift;
                        if (sum != 0) {
                            value[(long long)v * WIDTH + lane] = sum;
                            ++reached;
                        }
                        found |= got != 0;
                        if (lane == 0) {
                            next[v] = got;
                            if (got) {
                                seen[v] = before | got;
                                for (int k = 0, d = level; d; ++k, d >>= 1) {
                                    if ((d & 1) == 0) continue;
                                    if (k < PLANES) near[(long long)k * n + v] |= got;
                                    else far[(long long)(k - PLANES) * n + v] |= got;
                                }
                            }
                        }
                    }
                }
                if (!__syncthreads_or(found)) break;
                unsigned* const swapped = front;
                front = next;
                next = swapped;
            }

            // Backward: from the last level that has vertices to the first; `front` holds the level below.
            const int last = level - 1;
            for (int d = last; d > 0; --d) {
                unsigned* const own_level = d & 1 ? front : next;
                const unsigned* const below = d & 1 ? next : front;
                for (int v = t; v < n; v += threads) {
                    unsigned word = seen[v];
                    for (int k = 0; k < PLANES; ++k) {
                        const unsigned plane = near[(long long)k * n + v];
                        word &= d >> k & 1 ? plane : ~plane;
                    }
                    if (last >= 1 << PLANES) {
                        for (int k = PLANES; last >> k; ++k) {
                            const unsigned plane = far[(long long)(k - PLANES) * n + v];
                            word &= d >> k & 1 ? plane : ~plane;
                        }
                    }
                    own_level[v] = word;
                }
                __syncthreads();
                for (int base = 0; base < n; base += subs * WIDTH) {
                    const int look = base + lane * subs + ((sub + lane) & (subs - 1));
                    unsigned todo = __ballot_sync(mine, look < n && own_level[look < n ? look : 0] != 0) >> shift;
                    while (todo) {
                        const int j = __ffs(todo) - 1;
                        todo &= todo - 1;
                        const int v = base + j * subs + ((sub + j) & (subs - 1));
                        const unsigned level_of = own_level[v], me = bit & level_of;
                        REAL sum = 0;
                        if (d < last) {
                            const Row row = out.rows[v];
                            const Quad* quad = out.quads + first_quad(row);
                            for (int k = quads_of(row); k > 0; --k) {
                                const Quad q = *quad++;
                                const unsigned fa = below[q.a] & me, fb = below[q.b] & me;
                                const unsigned fc = below[q.c] & me, fd = below[q.d] & me;
                                if (fa) sum += value[(long long)q.a * WIDTH + lane];
                                if (fb) sum += value[(long long)q.b * WIDTH + lane];
                                if (fc) sum += value[(long long)q.c * WIDTH + lane];
                                if (fd) sum += value[(long long)q.d * WIDTH + lane];
                            }
                        }
                        long long share = 0;
                        if (me) {
                            const REAL sigma = value[(long long)v * WIDTH + lane], delta = times(sigma, sum);
                            value[(long long)v * WIDTH + lane] = ((REAL)1 + delta) / sigma;
                            share = (long long)times(delta, scale);
                            if (endpoints) share += 1LL << fraction;
                        }
                        if (d < last || endpoints) {
                            const unsigned low = __reduce_add_sync(mine, (unsigned)share & ((1u << HALF) - 1u));
                            const unsigned high = __reduce_add_sync(mine, (unsigned)(share >> HALF));
                            if (lane == 0) sums[v] += ((u64)high << HALF) + low;
                        }
                    }
                }
                __syncthreads();
            }
            if (endpoints && reached) atomicAdd(&sums[s0 + lane], (u64)reached << fraction);
        }
        __syncthreads();
        for (int v = t; v < n; v += threads) {
            if (sums[v]) atomicAdd(&fixed[p.vertex + v], sums[v]);
        }
    }
}
