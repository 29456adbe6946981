// All-pairs distances of many small graphs: one bit per target, one block per item of a graph.
//
// Computes for every vertex v the number of vertices it reaches and the sums of their distances and of the reciprocals
// (fixed point); or, with OUTPUT, row v of the distance matrix.
//
// Idea: within[v] is the set, as a bit string, of targets within distance d of v. The set for d + 1 is the union of
// those of v and its out-neighbors: one OR per 32 targets. Its new members lie at distance d + 1. The level loop has no
// queues, no flags, no atomics, and skips vertices whose set is full. For the matrix, bit planes beside the sets hold
// each level's number (bit k of the level at which v finds t); every 31 levels, and at the end, a warp turns a word of
// each plane into 32 consecutive entries.
//
// Why: traversals from each source read every arc once per source; this kernel reads it once per level and 32 targets,
// and small graphs have few levels.
//
// Closeness sums distances towards a vertex: the caller passes the transposed graph.
//
// WORDS: words per set, a power of two up to 32; a target block is 32 * WORDS targets, an item a range of these.
// OUTPUT: 0 sums alone, 1 the matrix in 16 bits, 2 in 32 bits.
//
// compile: WORDS=1,2,4,8 OUTPUT=0,1 HOLDS=0,1,2
// compile: WORDS=16,32 OUTPUT=0,1
// compile: WORDS=4 OUTPUT=2 HOLDS=0 WIDE=1
//
// References: Then et al., "The more the merrier: efficient multi-source graph traversal", VLDB 2014.
#include "pack.cuh"

#if OUTPUT == 2
typedef int Distance;
#else
typedef short Distance;
#endif
#define RECIPROCAL 40  // fraction bits of the reciprocals' sum

#if OUTPUT
#define PLANES 5
#define WINDOW ((1 << PLANES) - 1)  // levels per window: numbers that the planes can hold

// Writes the entries found in a window of levels; a warp expands one word at a time into 32 consecutive entries, and
// only words of its own lanes. The first window writes every entry (-1: not reached), later ones only new entries.
__device__ __forceinline__ void write_window(Distance* matrix, int n, int t0, int size, int threads,
                                             const unsigned* reached, unsigned* planes, int base, int last) {
    const int lane = (int)lane_id(), used = 32 - __clz(last - base);
    __syncwarp();
    for (int begin = (int)block_thread() & ~31; begin < size; begin += threads) {
        const int end = begin + 32 < size ? begin + 32 : size;
        for (int i = begin; i < end; ++i) {
            const int v = i / WORDS, first_target = t0 + 32 * (i % WORDS);
            if (first_target >= n) continue;
            unsigned code = 0;
            for (int k = 0; k < used; ++k) code |= (planes[k * size + i] >> lane & 1u) << k;
            const int entry = reached[i] >> lane & 1u ? base + (int)code : -1;
            if (first_target + lane < n && (base == 0 || code))
                matrix[(long long)v * n + first_target + lane] = (Distance)entry;
        }
        __syncwarp();
        for (int k = 0; k < PLANES && begin + lane < size; ++k) planes[k * size + begin + lane] = 0;
    }
}
#endif

// items: graph, first target block, number of target blocks.
// total, reach, reciprocal: one element per vertex, initially zero. matrix: entry [matrix_start[graph] + v * n + t].
extern "C" __global__ void __launch_bounds__(1024, 1) distances(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    unsigned char* scratch, long long stride, u64* total, u64* reciprocal, unsigned* reach,
    const long long* __restrict__ matrix_start, Distance* matrix) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int threads = blockDim.x, t = block_thread();
    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item], first = items[3 * item + 1], target_blocks = items[3 * item + 2];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        const int n = p.n;

        BumpAllocator in_shared{shared + 16}, in_global{scratch + (long long)blockIdx.x * stride};
        BumpAllocator &state = HOLDS == 0 ? in_global : in_shared, &graphs = HOLDS == 2 ? in_shared : in_global;
        unsigned* within = state.allocate<unsigned>((n + 1LL) * WORDS);
        unsigned* within_next = state.allocate<unsigned>((n + 1LL) * WORDS);
        const int size = n * WORDS;
#if OUTPUT
        unsigned* const planes = state.allocate<unsigned>((long long)PLANES * size);
#else
        u64* const distance_sum = state.allocate<u64>(n);
        u64* const reciprocal_sum = state.allocate<u64>(n);
        unsigned* const reached_count = state.allocate<unsigned>(n);
#endif
        const Rows out = carve_rows(graphs, n, p.m);
        copy_rows(out, p.offsets, p.targets, n, threads);
#if OUTPUT
        Distance* const graph_matrix = matrix + matrix_start[graph];
        for (int i = t; i < PLANES * size; i += threads) planes[i] = 0;
#else
        for (int v = t; v < n; v += threads) {
            distance_sum[v] = reciprocal_sum[v] = 0;
            reached_count[v] = 0;
        }
#endif
        // Whole warps run the loop, for the sums over a set's words and the writing of 32 entries.
        const int padded = (size + 31) & ~31;
        for (int target_block = first; target_block < first + target_blocks; ++target_block) {
            const int t0 = target_block * 32 * WORDS;
            __syncthreads();
            for (int i = t; i < (n + 1) * WORDS; i += threads) {
                const int v = i / WORDS, bit = v - (t0 + 32 * (i % WORDS));
                within[i] = v < n && bit >= 0 && bit < 32 ? 1u << bit : 0u;
                if (v == n) within_next[i] = 0;
            }
            __syncthreads();
            int d = 1, base = 0;
            for (;; ++d) {
#if !OUTPUT
                const u64 reciprocal_of_d = (1ull << RECIPROCAL) / (unsigned)d;
#endif
                bool grew = false;
                for (int i = t; i < padded; i += threads) {
                    unsigned fresh = 0;
                    const int v = i / WORDS, word = i % WORDS;
                    if (i < size) {
                        const unsigned before = within[i];
                        unsigned after = before;
                        const int left = n - (t0 + 32 * word);
                        const unsigned full = left >= 32 ? full_mask : left > 0 ? (1u << left) - 1u : 0u;
                        if (before != full) {
                            const Row row = out.rows[v];
                            const Quad* quad = out.quads + first_quad(row);
                            for (int k = quads_of(row); k > 0; --k) {
                                const Quad q = *quad++;
                                after |= within[q.a * WORDS + word] | within[q.b * WORDS + word] |
                                         within[q.c * WORDS + word] | within[q.d * WORDS + word];
                            }
                            fresh = after & ~before;
                            grew |= fresh != 0;
                        }
                        within_next[i] = after;
                    }
#if OUTPUT
                    if (fresh) {
                        for (int k = 0, code = d - base; code; ++k, code >>= 1) {
                            if (code & 1) planes[k * size + i] |= fresh;
                        }
                    }
#else
                    unsigned found = __popc(fresh);
                    for (int o = WORDS / 2; o; o >>= 1) found += __shfl_xor_sync(full_mask, found, o);
                    if (word == 0 && found) {
                        reached_count[v] += found;
                        distance_sum[v] += (u64)found * d;
                        reciprocal_sum[v] += (u64)found * reciprocal_of_d;
                    }
#endif
                }
                if (!__syncthreads_or(grew)) break;
                unsigned* const swap = within;
                within = within_next;
                within_next = swap;
#if OUTPUT
                if (d - base == WINDOW) {
                    write_window(graph_matrix, n, t0, size, threads, within, planes, base, d);
                    base = d;
                }
#endif
            }
#if OUTPUT
            write_window(graph_matrix, n, t0, size, threads, within, planes, base, d);
#endif
        }
#if !OUTPUT
        __syncthreads();
        for (int v = t; v < n; v += threads) {
            if (reached_count[v] == 0) continue;
            atomicAdd(&total[p.vertex + v], distance_sum[v]);
            atomicAdd(&reciprocal[p.vertex + v], reciprocal_sum[v]);
            atomicAdd(&reach[p.vertex + v], reached_count[v]);
        }
#endif
    }
}
