// Betweenness of many small graphs: a lane for each source, a group of WIDTH lanes for each vertex, a block for each
// item, which is some or all batches of a graph's sources. Host side: betweenness.py, binning.py.
//
// What it computes: for every vertex v the sum over all sources s of the dependency delta_s(v) (Brandes), in 64-bit
// fixed point.
//
// The idea: 32 sources traverse the graph together. A warp takes one vertex and reads its row once for all of them:
// lane i keeps the path count of source s0 + i. value[v][lane] lies in shared memory (HOLDS=0: in global): a warp reads
// 32 consecutive values, in one pass for floats and two for doubles, without bank conflicts, and all lanes read the
// same row, so skewed degrees cause no divergence. (With WIDTH < 32 the groups of a warp read different rows, and both
// may occur.) One word, read by all lanes, says which of the 32 sources have v in the present level.
//
// Why it is deterministic to the bit: a vertex collects from its predecessors (forward) and its successors (backward)
// in the order of its row, one lane for one source; each dependency is rounded down to fixed point and added as an
// integer. Any assignment of sources to lanes, warps, blocks or GPUs gives the same bits, and so does a sequential loop
// on a CPU that adds in the same order.
//
// One array serves both directions: delta(v) = sigma(v) * the sum of g(w) over successors w, with g(w) = (1 + delta(w))
// / sigma(w). Once delta(w) is added to the sums, only g(w) is needed and takes sigma(w)'s place. The levels are found
// on words alone, one level ahead of the path counts and between the same two barriers: 4 threads a vertex, an OR for
// 32 sources. Between two barriers a lane writes value[v] of the present level and reads those of the level in
// `before`, of the same source: never the same word. Levels are kept as bit planes: bit k of the level of v under
// source i is bit i of plane k's word of v. Planes 0 to 3 (low_planes) lie with the vertex state, the others
// (high_planes, levels from 16 on) in global memory.
//
// REAL: float or double. WIDTH: lanes and sources of a group, 32 to 4; fewer when 32 do not fit into shared memory,
// where the levels of 32 sources have too little in common, or when one graph shall be spread over many
// multiprocessors. HOLDS, WIDE: see pack.cuh.
//
// compile: REAL=double WIDTH=4,8,16,32 HOLDS=1,2
// compile: REAL=double WIDTH=32 HOLDS=0 WIDE=0,1
// compile: REAL=float WIDTH=16,32
//
// References: Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociol. 2001; multi-source traversal
// in words: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
#include "pack.cuh"

#define PLANES 4
// A share is below n 2^fraction: with b bits of n at most b + min(40, 61 - 2b) <= 50 (fraction_bits). So it has two
// halves of 25, whose sums over 32 lanes take 30.
#define HALF 25

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }

// sum += the values of those of four neighbors whose word has one of `me`'s bits, in order. With everything in shared
// memory the loads and additions are predicated by hand: compiled from `if`s they become branches, which cost more
// instructions than what they save.
__device__ __forceinline__ void add_quad(REAL& sum, const Quad q, const unsigned* words, unsigned me,
                                         const REAL* values, unsigned base) {
    const unsigned a = words[q.a] & me, b = words[q.b] & me, c = words[q.c] & me, d = words[q.d] & me;
#if HOLDS == 2 && !defined(LOCKSTEP_HOST)
    const unsigned step = WIDTH * sizeof(REAL);
    if (sizeof(REAL) == 8) {
        asm volatile(
            "{ .reg .pred p, q, r, s; .reg .f64 w, x, y, z;\n"
            "setp.ne.u32 p, %1, 0; setp.ne.u32 q, %2, 0; setp.ne.u32 r, %3, 0; setp.ne.u32 s, %4, 0;\n"
            "@p ld.shared.f64 w, [%5]; @q ld.shared.f64 x, [%6]; @r ld.shared.f64 y, [%7]; @s ld.shared.f64 z, [%8];\n"
            "@p add.rn.f64 %0, %0, w; @q add.rn.f64 %0, %0, x; @r add.rn.f64 %0, %0, y; @s add.rn.f64 %0, %0, z; }"
            : "+d"(*(double*)&sum)
            : "r"(a), "r"(b), "r"(c), "r"(d), "r"(base + q.a * step), "r"(base + q.b * step), "r"(base + q.c * step),
              "r"(base + q.d * step));
    } else {
        asm volatile(
            "{ .reg .pred p, q, r, s; .reg .f32 w, x, y, z;\n"
            "setp.ne.u32 p, %1, 0; setp.ne.u32 q, %2, 0; setp.ne.u32 r, %3, 0; setp.ne.u32 s, %4, 0;\n"
            "@p ld.shared.f32 w, [%5]; @q ld.shared.f32 x, [%6]; @r ld.shared.f32 y, [%7]; @s ld.shared.f32 z, [%8];\n"
            "@p add.rn.ftz.f32 %0, %0, w; @q add.rn.ftz.f32 %0, %0, x; @r add.rn.ftz.f32 %0, %0, y;\n"
            "@s add.rn.ftz.f32 %0, %0, z; }"
            : "+f"(*(float*)&sum)
            : "r"(a), "r"(b), "r"(c), "r"(d), "r"(base + q.a * step), "r"(base + q.b * step), "r"(base + q.c * step),
              "r"(base + q.d * step));
    }
#else
    if (a) sum += values[(long long)q.a * WIDTH];
    if (b) sum += values[(long long)q.b * WIDTH];
    if (c) sum += values[(long long)q.c * WIDTH];
    if (d) sum += values[(long long)q.d * WIDTH];
#endif
}

// Whether there is work left in the warp. All groups of a warp iterate until the last has finished: if groups left the
// loop one by one, the warp would diverge and run the others one after another.
__device__ __forceinline__ bool any_left(unsigned todo) {
    return WIDTH == 32 ? todo != 0 : __any_sync(full_mask, todo != 0);
}

// The sum of `share` over a group's lanes; all lanes of the warp call it.
__device__ __forceinline__ u64 group_sum(u64 share) {
#if WIDTH == 32
    const unsigned low = __reduce_add_sync(full_mask, (unsigned)share & ((1u << HALF) - 1u));
    const unsigned high = __reduce_add_sync(full_mask, (unsigned)(share >> HALF));
    return ((u64)high << HALF) + low;
#else
    for (int o = WIDTH / 2; o; o >>= 1) share += __shfl_xor_sync(full_mask, share, o);
    return share;
#endif
}

// items: graph, first batch of WIDTH sources, number of batches; several items may share a graph. in_offsets,
// in_targets: the graph transposed; of undirected graphs the same arrays. endpoints: whether a path's ends count.
// scratch: `stride` bytes a block. fixed: the sums, with fraction_bits(n) fractional bits. The queue uses the first 16
// bytes of shared memory.
extern "C" __global__ void __launch_bounds__(1024, 1) betweenness(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    const int* __restrict__ in_offsets, const Arc* __restrict__ in_targets, int directed, int endpoints,
    unsigned char* scratch, long long stride, u64* fixed) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int threads = blockDim.x, t = block_thread();
    const int lane = t & (WIDTH - 1), group = t / WIDTH, groups = threads / WIDTH;  // groups is a power of two
    const int shift = (t & 31) & ~(WIDTH - 1);  // the group's first lane in its warp
    const unsigned all = WIDTH == 32 ? full_mask : (1u << (WIDTH & 31)) - 1u;   // a group's lanes, counted from 0
    const unsigned bit = 1u << lane;
    unsigned char* const own = scratch + (long long)blockIdx.x * stride;

    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item], first = items[3 * item + 1], batches = items[3 * item + 2];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        const int n = p.n;

        BumpAllocator in_shared{shared + 16}, in_global{own};
        unsigned* const high_planes = in_global.allocate<unsigned>((long long)(32 - PLANES) * n);
        BumpAllocator &state = HOLDS == 0 ? in_global : in_shared, &graphs = HOLDS == 2 ? in_shared : in_global;
        REAL* const value = state.allocate<REAL>((long long)n * WIDTH);
        u64* const sums = state.allocate<u64>(n);
        unsigned* before = state.allocate<unsigned>(n + 1);  // words of three levels next to each other
        unsigned* present = state.allocate<unsigned>(n + 1);
        unsigned* after = state.allocate<unsigned>(n + 1);
        unsigned* const seen = state.allocate<unsigned>(n);
        unsigned* const low_planes = state.allocate<unsigned>((long long)PLANES * n);
        const Rows out = carve_rows(graphs, n, p.m);
        const Rows in = directed ? carve_rows(graphs, n, p.m) : out;
        REAL* const column = value + lane;
#if HOLDS == 2 && !defined(LOCKSTEP_HOST)
        const unsigned base_of = (unsigned)__cvta_generic_to_shared(column);
#else
        const unsigned base_of = 0;
#endif

        bool unsorted = copy_rows(out, p.offsets, p.targets, n, threads);
        if (directed) {
            const int* const transposed = in_offsets + p.vertex + graph;
            unsorted |= copy_rows(in, transposed, in_targets + p.arc, n, threads);
        }
        if (__syncthreads_or(unsorted)) {
            remove_duplicates(out, n, threads);
            if (directed) remove_duplicates(in, n, threads);
        }
        for (int v = t; v < n; v += threads) sums[v] = 0;
        if (t == 0) before[n] = present[n] = after[n] = 0;
        const int fraction = fraction_bits(n);
        const REAL scale = (REAL)(1LL << fraction);

        for (int batch = first; batch < first + batches; ++batch) {
            const int s0 = batch * WIDTH;
            const unsigned live = n - s0 >= WIDTH ? all : (1u << (n - s0)) - 1u;
            __syncthreads();
            for (int v = t; v < n; v += threads) {
                const unsigned start = v >= s0 && v < s0 + WIDTH ? 1u << (v - s0) : 0u;
                present[v] = seen[v] = start;
                if (start) value[(long long)v * WIDTH + (v - s0)] = 1;
                for (int k = 0; k < PLANES; ++k) low_planes[(long long)k * n + v] = 0;
            }
            __syncthreads();

            // Forward: the path counts of level `level`, and the vertices of the next one.
            int level = 0, reached = 0;
            for (;; ++level) {
                const int ahead = level + 1;
                if (ahead == 1 << PLANES) {
                    for (long long i = t; i < (long long)(32 - PLANES) * n; i += threads) high_planes[i] = 0;
                    __syncthreads();
                }
                bool found = false;
                for (int base = 0; base < n; base += threads / 4) {
                    const int v = base + (t >> 2);
                    const unsigned known = v < n ? seen[v] : full_mask, want = live & ~known;
                    unsigned got = 0;
                    if (want) {
                        const Row row = in.rows[v];
                        const Quad* const quads = in.quads + first_quad(row);
                        for (int k = t & 3; k < (int)quads_of(row); k += 4) {
                            const Quad q = quads[k];
                            got |= present[q.a] | present[q.b] | present[q.c] | present[q.d];
                        }
                    }
                    got |= __shfl_xor_sync(full_mask, got, 1);
                    got |= __shfl_xor_sync(full_mask, got, 2);
                    got &= want;
                    if (v < n && (t & 3) == 0) {
                        after[v] = got;
                        if (got) {
                            found = true;
                            seen[v] = known | got;
                            for (int k = 0, d = ahead; d; ++k, d >>= 1) {
                                if ((d & 1) == 0) continue;
                                if (k < PLANES) low_planes[(long long)k * n + v] |= got;
                                else high_planes[(long long)(k - PLANES) * n + v] |= got;
                            }
                        }
                    }
                }
                if (level) {
                    // A group tests as many vertices as it has lanes and then processes those of this level one by one.
                    for (int base = 0; base < n; base += groups * WIDTH) {
                        // Lane j of a group tests base + j * groups + (group + j) % groups: consecutive vertices go to
                        // different groups, and a warp's reads of `present` are spread over the banks (WIDTH 32 and
                        // 1,024 threads: without conflicts).
                        const int test = base + lane * groups + ((group + lane) & (groups - 1));
                        const unsigned voted = __ballot_sync(full_mask, test < n && present[test < n ? test : n] != 0);
                        for (unsigned todo = voted >> shift & all; any_left(todo); todo &= todo - 1) {
                            const int j = todo ? __ffs(todo) - 1 : 0;
                            const int v = todo ? base + j * groups + ((group + j) & (groups - 1)) : n;
                            const unsigned me = bit & present[v];
                            if (todo) {
                                const Row row = in.rows[v];
                                const Quad* quad = in.quads + first_quad(row);
                                REAL sum = 0;
#pragma unroll 1
                                for (int k = quads_of(row); k > 0; --k) {
                                    add_quad(sum, *quad++, before, me, column, base_of);
                                }
                                if (me) {
                                    value[(long long)v * WIDTH + lane] = sum;
                                    ++reached;
                                }
                            }
                        }
                    }
                }
                if (!__syncthreads_or(found)) break;
                unsigned* const oldest = before;
                before = present;
                present = after;
                after = oldest;
            }

            // Backward: levels d from the last to 1. `before` holds level d + 1 (none at first), `present` level d, and
            // `after` receives level d - 1, but for that of the sources.
            const int last = level;
            {
                unsigned* const none = before;
                for (int v = t; v < n; v += threads) none[v] = 0;
            }
            __syncthreads();
            for (int d = last; d > 0; --d) {
                const int coming = d - 1;
                if (coming) {
                    for (int v = t; v < n; v += threads) {
                        unsigned word = seen[v];
                        for (int k = 0; k < PLANES; ++k) {
                            const unsigned plane = low_planes[(long long)k * n + v];
                            word &= coming >> k & 1 ? plane : ~plane;
                        }
                        if (last >= 1 << PLANES) {
                            for (int k = PLANES; last >> k; ++k) {
                                const unsigned plane = high_planes[(long long)(k - PLANES) * n + v];
                                word &= coming >> k & 1 ? plane : ~plane;
                            }
                        }
                        after[v] = word;
                    }
                }
                for (int base = 0; base < n; base += groups * WIDTH) {
                    const int test = base + lane * groups + ((group + lane) & (groups - 1));
                    const unsigned voted = __ballot_sync(full_mask, test < n && present[test < n ? test : n] != 0);
                    for (unsigned todo = voted >> shift & all; any_left(todo); todo &= todo - 1) {
                        const int j = todo ? __ffs(todo) - 1 : 0;
                        const int v = todo ? base + j * groups + ((group + j) & (groups - 1)) : n;
                        const unsigned me = todo ? bit & present[v] : 0u;
                        REAL sum = 0;
                        if (d < last && todo) {
                            const Row row = out.rows[v];
                            const Quad* quad = out.quads + first_quad(row);
#pragma unroll 1
                            for (int k = quads_of(row); k > 0; --k) add_quad(sum, *quad++, before, me, column, base_of);
                        }
                        u64 share = 0;
                        if (me) {
                            const REAL sigma = value[(long long)v * WIDTH + lane], delta = times(sigma, sum);
                            const REAL g = dependency_term(sigma, delta);
                            value[(long long)v * WIDTH + lane] = g;
                            if (g == g) share = (u64)(long long)times(delta, scale);
                            else atomicOr(&fixed[p.vertex + v], OVERFLOWED);
                            if (endpoints) share += 1ull << fraction;
                        }
                        if (__any_sync(full_mask, share != 0)) {
                            share = group_sum(share);
                            if (lane == 0 && share) sums[v] += share;  // one group takes v in a level: no atomic
                        }
                    }
                }
                __syncthreads();
                unsigned* const oldest = before;
                before = present;
                present = after;
                after = oldest;
            }
            if (endpoints && reached) atomicAdd(&sums[s0 + lane], (u64)reached << fraction);
        }
        __syncthreads();
        for (int v = t; v < n; v += threads) {
            if (sums[v]) atomicAdd(&fixed[p.vertex + v], sums[v]);
        }
    }
}
