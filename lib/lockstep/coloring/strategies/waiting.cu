// Computes the coloring of a greedy loop over the vertices in order of priority in one cooperative launch, without
// rounds: every vertex waits only for its neighbors of higher priority.
//
// Priority: largest degree first. Degrees of 32 and more fall into classes of 1/16 of an octave; a seeded hash breaks
// ties. Each vertex takes the smallest color that no neighbor of higher priority has. That defines the colors fully, so
// they are the same in every run, whatever the interleaving.
//
// A vertex publishes one word, `state`, the set of colors that it may still take:
//     bits 0..29   color 0..29 is possible          bit 30   some color of 30 or more is possible
//     bit 31       final, and the low bits hold the color itself (30 or more)
// A word with a single bit, in 0..29, is a final color as well. The set only shrinks, and the word carries all
// information, so a relaxed load suffices: no fence, no second array. A vertex of degree below 30 takes one of colors
// 0..29; bit 30, with which its word begins, means nothing for it.
//     - a neighbor whose possible colors are disjoint from the vertex's own can be dropped before it is colored;
//     - if no remaining neighbor can take the vertex's smallest possible color, that color is final.
// These two shortcuts (EARLY) do not change the colors; they shorten the chains of dependences.
//
// Vertices by degree:
//     below LANES (at most 30): a lane each. One bit for each neighbor marks the remaining ones. A warp polls its own
//         list repeatedly and drops finished vertices.
//     LANES and more: a warp each. If they outnumber the warps, warps claim them in order of priority: a vertex waits
//         only for vertices already claimed by resident warps, so there is no deadlock, and vertices on which others
//         depend start first. A set of 1,024
//         colors lies in shared memory, a word a lane; further colors follow in windows of 1,024.
//     above HUB: likewise, but several warps find the neighbors of higher priority, SEGMENT arcs each.
//
// Steps, separated by grid barriers: degree classes; the neighbors of higher priority of the vertices that take a warp;
// if these outnumber the warps, sorting them, in three further steps; coloring, these vertices first. Without hubs and
// with a warp for each such vertex, the warp that gathers for a vertex also colors it, and one barrier suffices; on a
// small graph the remaining vertices then get warps of their own and need not wait for a warp's large vertex.
//
// References: M. Jones, P. Plassmann, "A parallel graph coloring heuristic", SIAM J. Sci. Comput. 14 (1993). W.
// Hasenplaugh et al., "Ordering heuristics for parallel graph coloring", SPAA 2014 (classes of degree). G. Alabandi, E.
// Powers, M. Burtscher, "Increasing the parallelism of graph coloring via shortcutting", PPoPP 2020 (the shortcuts).
//
// compile: EARLY=0,1 THREADS=128,256,512,1024
#include "device.cuh"
#include "priority.cuh"

#ifndef LANES
#define LANES 16  // degree from which a vertex takes a warp; at most 30: a state has single bits for 30 colors
#endif
#ifndef HUB
#define HUB 1024  // degree above which several warps gather the predecessors
#endif
#ifndef SEGMENT
#define SEGMENT 1024  // arcs of such a vertex that one warp gathers
#endif
#ifndef SET_WORDS
#define SET_WORDS 32  // of a warp's set of colors; fewer only to test further windows on small graphs
#endif

constexpr int single_bit_colors = 30;                      // colors that have a bit of their own
constexpr int beyond = 1 << 30;              // "some color of 30 or more"
constexpr int all_colors = beyond | (beyond - 1);
constexpr int window = 32 * SET_WORDS;       // colors in a warp's set
constexpr int classes = degree_classes;
constexpr int bucket_size = 16;                    // expected vertices per bucket of the sort
constexpr int wide = 4;                      // independent loads that a lane issues at a time
// Words of `control`: numbers of vertices that take a warp and of segments of hubs, next of the former, blocks that are
// done, sizes of the classes.
enum { BIG = 2, SEGMENTS, TICKET, BLOCKS_DONE, SIZES = 8 };

struct Graph {
    const int* offsets;
    const int* targets;
    const unsigned char* rank;
    unsigned seed;
};

// Whether u, of class class_u, has a higher priority than v, of class class_v. Below 32 a degree is its own class.
__device__ __forceinline__ bool before(const Graph& g, int u, int class_u, int v, int class_v) {
    return class_u != class_v ? class_u > class_v : priority_hash(u, g.seed) > priority_hash(v, g.seed);
}

__device__ __forceinline__ bool is_final(int state) {
    return state < 0 || (!(state & beyond) && __popc(state) == 1);
}

__device__ __forceinline__ void publish_color(int* state, int* colors, int v, int color) {
    colors[v] = color;
    store_relaxed(state + v, color < single_bit_colors ? 1 << color : (int)(0x80000000u | color));
}

#include "by_warp.cuh"

// A lane polls the remaining neighbors of its vertex v = item.x once, a bit each of item.z. item.w: the colors that v
// may still take; published: the set in `state`. True once v is colored. On graphs of low degree this loop dominates
// the instruction count. A neighbor is dropped if its word has one color bit or none (final, 30 or more), or if its
// possible colors are disjoint from item.w; without EARLY an uncolored neighbor's word is `all_colors`.
__device__ __forceinline__ bool poll(int4& item, int published, const Graph& g, int* state, int* colors) {
    const int* row = g.targets + item.y;
    int neighbor_colors = 0;
    for (int remaining = item.z; remaining;) {
        int bit[wide], allowed[wide];
        for (int i = 0; i < wide; ++i) {
            bit[i] = remaining & -remaining;
            remaining ^= bit[i];
        }
        for (int i = 0; i < wide; ++i) allowed[i] = bit[i] ? max(load_relaxed(state + row[31 - __clz(bit[i])]), 0) : 0;
        for (int i = 0; i < wide; ++i) {
            if (!(allowed[i] & (allowed[i] - 1))) item.w &= ~allowed[i];
            if (!(allowed[i] & item.w)) item.z &= ~bit[i];
            else neighbor_colors |= allowed[i];
        }
    }
    const int smallest = item.w & -item.w;
    if (EARLY ? !(neighbor_colors & smallest) : item.z == 0) {
        publish_color(state, colors, item.x, __ffs(smallest) - 1);
        return true;
    }
    if (EARLY && item.w != published) store_relaxed(state + item.x, item.w);
    return false;
}

// A record of a warp's list: vertex, start of its row, bit mask of its neighbors of higher priority, set of colors it
// may take.
__device__ __forceinline__ int4 find_predecessors(int v, int first, int degree, const Graph& g) {
    int predecessors = 0;
    for (int j = 0; j < degree; j += wide) {
        int u[wide], class_u[wide];
        for (int i = 0; i < wide; ++i) u[i] = g.targets[first + min(j + i, degree - 1)];
        for (int i = 0; i < wide; ++i) class_u[i] = g.rank[u[i]];
        for (int i = 0; i < wide; ++i)
            if (j + i < degree && before(g, u[i], class_u[i], v, degree)) predecessors |= 1 << (j + i);
    }
    return make_int4(v, first, predecessors, (2 << __popc(predecessors)) - 1);
}

#include "in_order.cuh"

// up: neighbors of higher priority of v, count[v] of them from up[offsets[v]] on, where v takes a warp. big: these
// vertices; hubs: {vertex, first arc} of each segment; sorted, filled, bucket_starts: see in_order.cuh. in_shared:
// records of a warp's list that shared memory holds; 0: the lists are in `listed`.
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
waiting(const int* __restrict__ offsets, const int* __restrict__ targets, int n, unsigned seed, unsigned char* rank,
        int* up, int* count, int* listed, int in_shared, int* big, int* sorted, int* hubs, int* filled,
        int* bucket_starts, unsigned* control, int* state, int* colors) {
    DYNAMIC_SHARED(int4, shared);  // a set of 32 words for each warp; where each class begins; lists
    unsigned* set = reinterpret_cast<unsigned*>(shared) + warp_id() * 32;
    int* begin = reinterpret_cast<int*>(shared) + THREADS;
    const Graph g = {offsets, targets, rank, seed};
    const int lane = lane_id(), per_block = THREADS / 32, warps = gridDim.x * per_block;
    const int warp = warp_id() * gridDim.x + blockIdx.x;  // consecutive warps belong to different blocks
    int* words = reinterpret_cast<int*>(control);

    // Degree classes, four vertices a lane. Each run leaves the words of `control` zero except the ticket and the
    // barrier's.
    if (global_thread() == 0) words[TICKET] = 0;
    for (int start = 0; start < n; start += 4 * global_threads()) {
        const int v = start + 4 * global_thread();
        int row[5];
        if (v + 3 < n) {
            const int4 four = *reinterpret_cast<const int4*>(offsets + v);
            row[0] = four.x, row[1] = four.y, row[2] = four.z, row[3] = four.w, row[4] = offsets[v + 4];
        } else {
            for (int i = 0; i < 5; ++i) row[i] = offsets[min(v + i, n)];
        }
        int c[4];
        for (int i = 0; i < 4; ++i) c[i] = degree_class(row[i + 1] - row[i]);
        if (v < n) {  // rank and state are padded to a multiple of four
            *reinterpret_cast<uchar4*>(rank + v) = make_uchar4(c[0], c[1], c[2], c[3]);
            *reinterpret_cast<int4*>(state + v) = make_int4(all_colors, all_colors, all_colors, all_colors);
        }
        if (!__any_sync(full_mask, max(max(c[0], c[1]), max(c[2], c[3])) >= LANES)) continue;
        for (int i = 0; i < 4; ++i) {
            const int degree = row[i + 1] - row[i];
            const unsigned large_lanes = __ballot_sync(full_mask, degree >= LANES);
            int place = 0;
            if (lane == 0 && large_lanes) place = atomicAdd(words + BIG, __popc(large_lanes));
            place = __shfl_sync(full_mask, place, 0) + __popc(large_lanes & ((1u << lane) - 1));
            if (degree < LANES) continue;
            big[place] = v + i;
            atomicAdd(words + SIZES + c[i], 1);
            if (degree <= HUB) continue;
            count[v + i] = 0;
            int segment = atomicAdd(words + SEGMENTS, (degree + SEGMENT - 1) / SEGMENT);
            for (int from = row[i]; from < row[i + 1]; from += SEGMENT, ++segment) {
                hubs[2 * segment] = v + i;
                hubs[2 * segment + 1] = from;
            }
        }
    }
    grid_barrier(control);

    const int bigs = words[BIG], segments = words[SEGMENTS];
    if (bigs) {
        for (int i = warp; i < segments; i += warps) {
            const int v = hubs[2 * i], start = hubs[2 * i + 1];
            gather_predecessors(v, start, min(start + SEGMENT, offsets[v + 1]), g, up + offsets[v], count + v);
        }
        for (int i = warp; i < bigs; i += warps) {
            const int v = big[i], first = offsets[v], last = offsets[v + 1];
            if (last - first > HUB) continue;
            const int known = gather_predecessors(v, first, last, g, up + first, nullptr);
            if (lane == 0) {
                count[v] = known;
                if (EARLY && known < single_bit_colors) store_relaxed(state + v, (2 << known) - 1);
            }
        }
        if (bigs > warps) {
            if (warp_id() == 0) class_offsets(words + SIZES, begin);
            __syncthreads();
            sort(big, bigs, sorted, filled, bucket_starts, words + SIZES, begin, g, control);
        } else if (segments) {
            grid_barrier(control);
        } else {
            __syncthreads();  // each warp colors the vertex that it gathered for
        }
        if (blockIdx.x == 0)
            for (int i = threadIdx.x; i < classes; i += THREADS) words[SIZES + i] = 0;
        // All warps of this block have read BIG and SEGMENTS; the last block resets them.
        if (threadIdx.x == 0 && atomicAdd(words + BLOCKS_DONE, 1) == static_cast<int>(gridDim.x) - 1)
            words[BIG] = words[SEGMENTS] = words[BLOCKS_DONE] = 0;
        for (int ticket = warp; ticket < bigs;) {
            const int v = big[ticket], first = offsets[v];
            color_by_warp(v, up + first, count[v], g, state, colors, set);
            if (bigs <= warps) break;
            if (lane == 0) ticket = warps + atomicAdd(words + TICKET, 1);
            ticket = __shfl_sync(full_mask, ticket, 0);
        }
    }

    // Vertices of low degree: each warp polls its own list, first all of them, then those without a color.
    const int per_lane = (n + 32 * warps - 1) / (32 * warps);
    int base = 32 * (static_cast<int>(blockIdx.x) * per_lane * per_block + static_cast<int>(warp_id())) + lane;
    if (bigs + (n + 31) / 32 <= warps) base = warp < bigs ? n : 32 * (warp - bigs) + lane;  // warps enough for both
    int4* list = in_shared ? shared + (THREADS + classes) / 4 + warp_id() * in_shared
                           : reinterpret_cast<int4*>(listed) + static_cast<long long>(warp) * per_lane * 32;
    int remaining = per_lane * 32;
    int next = base < n ? offsets[base] : 0, next_end = base < n ? offsets[base + 1] : LANES;
    for (bool first_pass = true; remaining; first_pass = false) {
        int kept = 0;
        for (int j = 0; j < remaining; j += 32) {
            int4 item;
            int published = all_colors;
            bool pending = false;
            if (first_pass) {
                const int v = base + j / 32 * THREADS, later = v + THREADS, first = next, degree = next_end - next;
                next = later < n ? offsets[later] : 0;  // loaded one iteration ahead to hide its latency
                next_end = later < n ? offsets[later + 1] : LANES;
                pending = degree < LANES;
                if (pending) item = find_predecessors(v, first, degree, g);
            } else if (j + lane < remaining) {
                item = list[j + lane];
                published = item.w;
                pending = true;
            }
            if (pending) pending = !poll(item, published, g, state, colors);
            const unsigned votes = __ballot_sync(full_mask, pending);
            if (pending) list[kept + __popc(votes & ((1u << lane) - 1))] = item;  // kept <= j: that has been read
            kept += __popc(votes);
        }
        __syncwarp();
        if (kept == remaining) pause(100);
        remaining = kept;
    }
}
