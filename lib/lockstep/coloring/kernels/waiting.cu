// Colors a graph as a greedy loop over the vertices in order of priority would, without that loop, without rounds and
// without the host: every vertex waits for its neighbors of higher priority alone, inside one cooperative launch.
//
// Priority: largest degree first. Degrees of 32 and more fall into classes of 1/16 of an octave; a seeded hash breaks
// ties. Each vertex takes the smallest color that no neighbor of higher priority has. That defines the colors fully, so
// they are the same in every run, whatever the interleaving.
//
// What a vertex tells the others is one word, `state`, the set of colors it may still take:
//     bits 0..29   color 0..29 is possible          bit 30   some color of 30 or more is possible
//     bit 31       final, and the low bits hold the color itself (30 or more)
// One single bit of 0..29 is a final color as well. The word only ever shrinks, and it is the whole message: no fence, no
// second array, a relaxed load sees it. A vertex of degree below 30 never needs more than these bits.
//     - a neighbor whose possible colors do not meet mine can be forgotten before it is colored;
//     - if no neighbor I wait for can take my smallest possible color, that color is mine now.
// These two shortcuts (EARLY) do not change the colors; they cut the chains of waiting.
//
// Vertices by degree:
//     below 30: a lane each. Which neighbors are still waited for is one bit per neighbor. A warp goes over its own list
//         again and again and drops who is done.
//     30 and more: a warp each, claimed nearly in order of priority, so that those who wait longest start first. A set of
//         1,024 colors lies in shared memory, a word a lane; further colors are looked at in windows of 1,024.
//     above HUB: as the last, but finding the neighbors of higher priority is shared among warps, SEGMENT arcs each.
// A claimed vertex that waits too long is parked and looked at again later, so that any order of claiming ends.
//
// Steps: classes of degree; (grid barrier) for those of 30 and more the neighbors of higher priority and the order of
// claiming; (grid barrier, left out where there are none) coloring, those of 30 and more first. ALONE=1 is the same for one
// block on a graph that fits into shared memory, where a step of the chain costs a tenth.
//
// References: M. Jones, P. Plassmann, "A parallel graph coloring heuristic", SIAM J. Sci. Comput. 14 (1993). W.
// Hasenplaugh et al., "Ordering heuristics for parallel graph coloring", SPAA 2014 (classes of degree). G. Alabandi, E.
// Powers, M. Burtscher, "Increasing the parallelism of graph coloring via shortcutting", PPoPP 2020 (the shortcuts).
//
// compile: EARLY=1 THREADS=512
// compile: EARLY=0 THREADS=512
// compile: EARLY=1 THREADS=1024 ALONE=1
#include "device.cuh"
#include "priority.cuh"

#ifndef PATIENCE
#define PATIENCE 4096  // polls before a warp parks a vertex
#endif
#ifndef HUB
#define HUB 1024
#endif
#ifndef SEGMENT
#define SEGMENT 1024
#endif
#ifndef ALONE
#define ALONE 0
#endif
#ifndef SET_WORDS
#define SET_WORDS 32  // of a warp's set of colors; fewer only where a small graph shall show what lies beyond
#endif

constexpr int few = 30;                      // a vertex of lower degree is a lane's
constexpr int beyond = 1 << 30;              // "some color of 30 or more"
constexpr int anything = beyond | (beyond - 1);
constexpr int window = 32 * SET_WORDS;       // colors in a warp's set
constexpr int classes = full_classes;
constexpr int shelf = 64;                     // places that are handed out together when vertices are sorted
enum { BIG = 2, ITEMS, TICKET, SIZES = 8 };  // words of `control`

struct Graph {
    const int* offsets;
    const int* targets;
    const unsigned char* rank;
    unsigned seed;
};

// Whether u, of class `its`, goes before v, of class `mine`.
__device__ __forceinline__ bool before(const Graph& g, int u, int its, int v, int mine) {
    return its != mine ? its > mine : draw(u, g.seed) > draw(v, g.seed);
}

__device__ __forceinline__ bool is_final(int state) {
    return state < 0 || (!(state & beyond) && __popc(state) == 1);
}

// Colors that a neighbor may still take, or took, as bits; 0 if it is final beyond the bits.
__device__ __forceinline__ int possible(int state) { return state < 0 ? 0 : state; }

__device__ __forceinline__ void publish_color(int* state, int* colors, int v, int color) {
    colors[v] = color;
    store_relaxed(state + v, color < few ? 1 << color : (int)(0x80000000u | color));
}

// A warp writes those of targets[first..last) that go before v to up[base + ...]; returns how many. With `count`, other
// warps do other segments of the same vertex and places come from it.
__device__ __forceinline__ int gather(int v, int first, int last, const Graph& g, int* up, int* count) {
    const int lane = lane_id(), mine = g.rank[v];
    int found = 0;
    for (int j = first; j < last; j += 128) {
        int u[4], its[4];
        unsigned votes[4];
        for (int i = 0; i < 4; ++i) u[i] = g.targets[min(j + i * 32 + lane, last - 1)];
        for (int i = 0; i < 4; ++i) its[i] = g.rank[u[i]];
        int total = 0;
        for (int i = 0; i < 4; ++i) {
            votes[i] = __ballot_sync(full_mask, j + i * 32 + lane < last && before(g, u[i], its[i], v, mine));
            total += __popc(votes[i]);
        }
        if (total == 0) continue;
        int place = found;
        if (count) {
            if (lane == 0) place = atomicAdd(count, total);
            place = __shfl_sync(full_mask, place, 0);
        }
        for (int i = 0; i < 4; ++i) {
            if (votes[i] >> lane & 1) up[place + __popc(votes[i] & ((1u << lane) - 1))] = u[i];
            place += __popc(votes[i]);
        }
        found += total;
    }
    return found;
}

// Whether a neighbor whose state is s need no longer be waited for; takes down its color if it has one. s is 0 for none.
__device__ __forceinline__ bool stop_waiting(int s, int mine, unsigned* set) {
    if (s == 0) return true;
    if (is_final(s)) {
        const int color = s < 0 ? s & 0x7fffffff : __ffs(s) - 1;
        if (color < window) atomicOr(set + (color >> 5), 1u << (color & 31));
        return true;
    }
    return EARLY && !(s & mine);
}

// The smallest color not in the warp's set, or `window` if it is full. Lane 0 .. 31 hold words 0 .. 31.
__device__ __forceinline__ int smallest_free(unsigned word) {
    const unsigned open = __ballot_sync(full_mask, lane_id() < SET_WORDS && word != full_mask);
    if (open == 0) return window;
    const int owner = __ffs(open) - 1;
    return owner * 32 + __ffs(~__shfl_sync(full_mask, word, owner)) - 1;
}

// For a vertex whose first `window` colors are all taken and who waits for nobody: look at further windows, reading its
// whole row again. Costs a pass per window; needed only by graphs with cliques of more than a thousand.
__device__ __forceinline__ int search_further(int v, const Graph& g, const int* state, unsigned* set) {
    const int lane = lane_id(), first = g.offsets[v], last = g.offsets[v + 1], mine = g.rank[v];
    for (int low = window;; low += window) {
        set[lane] = 0;
        __syncwarp();
        for (int j = first + lane; j < last; j += 32) {
            const int u = g.targets[j];
            const int s = load_relaxed(state + u);
            if (s >= 0 || !before(g, u, g.rank[u], v, mine)) continue;  // s >= 0: a color below 30
            const int color = (s & 0x7fffffff) - low;
            if (color >= 0 && color < window) atomicOr(set + (color >> 5), 1u << (color & 31));
        }
        __syncwarp();
        const int color = smallest_free(set[lane]);
        if (color < window) return low + color;
    }
}

// A warp waits for the `pending` neighbors in up[0..pending), then colors v; false if patience ends first. `up` is used up.
__device__ __forceinline__ bool settle(int v, int* up, int pending, int patience, const Graph& g, int* state, int* colors,
                       unsigned* set) {
    const int lane = lane_id();
    const int all = pending < few ? (2 << pending) - 1 : anything;  // k neighbors leave k + 1 colors
    int mine = all, told = all, u = -1;
    bool in_registers = false;  // the last 32 that I wait for are held by one lane each
    set[lane] = 0;
    __syncwarp();
    for (int tries = 0; tries < patience; ++tries) {
        int theirs = 0;  // what those can still take for whom this lane waits
        if (in_registers) {
            const int s = u < 0 ? 0 : load_relaxed(state + u);
            if (stop_waiting(s, mine, set)) u = -1;
            else theirs = s;
            pending = __popc(__ballot_sync(full_mask, u >= 0));
        } else {
            int kept = 0;
            for (int j = 0; j < pending; j += 32) {
                u = j + lane < pending ? up[j + lane] : -1;
                const int s = u < 0 ? 0 : load_relaxed(state + u);
                if (stop_waiting(s, mine, set)) u = -1;
                else theirs |= s;
                const unsigned votes = __ballot_sync(full_mask, u >= 0);
                if (u >= 0) up[kept + __popc(votes & ((1u << lane) - 1))] = u;  // kept <= j: this row has been read
                kept += __popc(votes);
            }
            __syncwarp();
            pending = kept;
            in_registers = pending <= 32;
            if (in_registers) u = lane < pending ? up[lane] : -1;
        }
        __syncwarp();
        const unsigned word = set[lane];
        int color = smallest_free(word);
        mine = (all & beyond) | (all & (beyond - 1) & ~__shfl_sync(full_mask, word, 0));
        const bool contested = __any_sync(full_mask, theirs >> min(color, few) & 1);
        if (pending == 0 || (EARLY && !contested && color < window)) {
            if (color == window) color = search_further(v, g, state, set);
            if (lane == 0) publish_color(state, colors, v, color);
            return true;
        }
        if (EARLY && mine != told) {
            if (lane == 0) store_relaxed(state + v, mine);
            told = mine;
        }
    }
    return false;
}

// One look of a lane at the neighbors it waits for, a bit each of item.z; item.w are the colors that v may still take,
// told is what it told the others. True if v is colored now.
__device__ __forceinline__ bool look(int4& item, int told, const Graph& g, int* state, int* colors) {
    const int* row = g.targets + item.y;
    int theirs = 0, waiting = item.z;
    for (int rest = item.z; rest;) {
        int bit[4], s[4];
        for (int i = 0; i < 4; ++i) {  // four at a time: their loads overlap
            bit[i] = __ffs(rest) - 1;
            rest &= rest - 1;
        }
        for (int i = 0; i < 4; ++i) s[i] = bit[i] < 0 ? 0 : load_relaxed(state + row[bit[i]]);
        for (int i = 0; i < 4; ++i) {
            if (bit[i] < 0) continue;
            const int can = possible(s[i]);
            if (is_final(s[i])) item.w &= ~can;
            if (is_final(s[i]) || (EARLY && !(can & item.w))) waiting &= ~(1 << bit[i]);
            else theirs |= can;
        }
    }
    item.z = waiting;
    const int smallest = item.w & -item.w;
    if (EARLY ? !(theirs & smallest) : waiting == 0) {
        publish_color(state, colors, item.x, __ffs(smallest) - 1);
        return true;
    }
    if (EARLY && item.w != told) store_relaxed(state + item.x, item.w);
    return false;
}

// The lane's vertex with its neighbors of higher priority as bits.
__device__ __forceinline__ int4 first_look(int v, int first, int degree, const Graph& g) {
    int waiting = 0;
    for (int j = 0; j < degree; j += 4) {  // four at a time: their loads overlap
        int u[4], its[4];
        for (int i = 0; i < 4; ++i) u[i] = g.targets[first + min(j + i, degree - 1)];
        for (int i = 0; i < 4; ++i) its[i] = g.rank[u[i]];
        for (int i = 0; i < 4; ++i)
            if (j + i < degree && before(g, u[i], its[i], v, degree)) waiting |= 1 << (j + i);
    }
    return make_int4(v, first, waiting, (2 << __popc(waiting)) - 1);
}

__device__ __forceinline__ void barrier(unsigned* state) {
    if (ALONE) __syncthreads();
    else grid_barrier(state);
}

// in_shared: items of a warp's list that shared memory holds; 0: the lists are in `listed`.
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
waiting(const int* __restrict__ all_offsets, const int* __restrict__ all_targets, int n, unsigned seed,
        unsigned char* ranks, int* up, int* count, int* next, int* listed, int in_shared, int* big, int* sorted,
        int* hubs, int* filled, int shelves, unsigned* control, int* states, int* colors) {
    DYNAMIC_SHARED(int4, shared);  // a set of 32 words for each warp; where each class begins; lists; with ALONE the graph
    unsigned* set = reinterpret_cast<unsigned*>(shared) + warp_id() * 32;
    int* begin = reinterpret_cast<int*>(shared) + THREADS;
    int4* lists = shared + (THREADS + classes) / 4;
    const int lane = lane_id(), per_block = THREADS / 32, warps = gridDim.x * per_block;
    const int warp = warp_id() * gridDim.x + blockIdx.x;  // neighbors in this order are on different multiprocessors
    const int turns = (n + 32 * warps - 1) / (32 * warps);
    const int mine = 32 * (static_cast<int>(blockIdx.x) * turns * per_block + static_cast<int>(warp_id()));
    int4* list = in_shared ? lists + warp_id() * in_shared
                           : reinterpret_cast<int4*>(listed) + static_cast<long long>(warp) * turns * 32;
    int* words = reinterpret_cast<int*>(control);
#if ALONE
    int* state = reinterpret_cast<int*>(lists + per_block * in_shared);
    int* offsets = state + n;
    int* targets = offsets + n + 1;
    const int m = all_offsets[n];
    unsigned char* rank = reinterpret_cast<unsigned char*>(targets + m);
    for (int i = threadIdx.x; i <= n; i += THREADS) offsets[i] = all_offsets[i];
    for (int i = threadIdx.x; i < m; i += THREADS) targets[i] = all_targets[i];
    __syncthreads();
#else
    const int *offsets = all_offsets, *targets = all_targets;
    int* state = states;
    unsigned char* rank = ranks;
#endif
    const Graph g = {offsets, targets, rank, seed};

    // Classes of degree. The words of `control` are zero: each run leaves them so, but for the tickets.
    if (global_thread() == 0) words[TICKET] = 0;
    for (int i = global_thread(); i < shelves; i += global_threads()) filled[i] = 0;
    for (int turn = 0; turn < turns; ++turn) {
        const int v = mine + turn * THREADS + lane;
        const int first = v < n ? offsets[v] : 0, degree = v < n ? offsets[v + 1] - first : 0;
        const int c = degree_class(degree);
        if (v < n) {
            rank[v] = c;
            state[v] = anything;
        }
        const unsigned large = __ballot_sync(full_mask, degree >= few);
        if (!large) continue;
        int place = 0;
        if (lane == 0) place = atomicAdd(words + BIG, __popc(large));
        place = __shfl_sync(full_mask, place, 0) + __popc(large & ((1u << lane) - 1));
        if (degree < few) continue;
        big[place] = v;
        atomicAdd(words + SIZES + c, 1);
        if (degree > HUB) {
            count[v] = 0;
            int item = atomicAdd(words + ITEMS, (degree + SEGMENT - 1) / SEGMENT);
            for (int at = first; at < first + degree; at += SEGMENT, ++item) {
                hubs[2 * item] = v;
                hubs[2 * item + 1] = at;
            }
        }
    }
    barrier(control);

    const int bigs = words[BIG], items = words[ITEMS];
    if (bigs) {
        for (int i = warp; i < items; i += warps) {
            const int v = hubs[2 * i], start = hubs[2 * i + 1];
            gather(v, start, min(start + SEGMENT, offsets[v + 1]), g, up + offsets[v], count + v);
        }
        for (int i = warp; i < bigs; i += warps) {
            const int v = big[i], first = offsets[v], last = offsets[v + 1];
            if (last - first > HUB) continue;
            const int known = gather(v, first, last, g, up + first, nullptr);
            if (lane == 0) {
                count[v] = known;
                if (EARLY && known < few) store_relaxed(state + v, (2 << known) - 1);
            }
        }
        // Almost in order of priority: a class has its range of places, the largest class first; inside it the random
        // number tells how far to go, to the shelf, and who finds it full takes the next one.
        for (int i = threadIdx.x; i < classes; i += THREADS) begin[i] = words[SIZES + i];
        __syncthreads();
        if (warp_id() == 0) {
            int sum = 0;
            for (int i = classes - 1 - lane; i >= 0; i -= 32) {
                const int size = begin[i];
                int before_me = size;
                for (int d = 1; d < 32; d *= 2) {
                    const int other = __shfl_up_sync(full_mask, before_me, d);
                    if (lane >= d) before_me += other;
                }
                begin[i] = sum + before_me - size;
                sum += __shfl_sync(full_mask, before_me, 31);
            }
        }
        __syncthreads();
        for (int i = global_thread(); i < bigs; i += global_threads()) {
            const int v = big[i], c = rank[v], size = words[SIZES + c], last = (size - 1) / shelf;
            const unsigned long long far = ~draw(v, seed);
            int* const mine = filled + begin[c] / shelf + classes - 1 - c;
            for (int s = static_cast<int>(far * size >> 32) / shelf;; s = s == last ? 0 : s + 1) {
                const int place = atomicAdd(mine + s, 1);
                if (place >= min(shelf, size - s * shelf)) continue;
                sorted[begin[c] + s * shelf + place] = v;
                break;
            }
        }
        barrier(control);
        if (blockIdx.x == 0) {
            for (int i = threadIdx.x; i < classes; i += THREADS) words[SIZES + i] = 0;
            if (threadIdx.x == 0) words[BIG] = words[ITEMS] = 0;
        }

        // Vertices in order of the tickets; those that took too long are looked at again before the next ticket.
        int ticket = warp, parked = -1, again = -1;
        for (;;) {
            int v, waits, patience = 1;
            if (again >= 0) {
                v = again;
                again = next[v];
                __syncwarp();
                waits = gather(v, offsets[v], offsets[v + 1], g, up + offsets[v], nullptr);
            } else if (ticket < bigs) {
                v = sorted[ticket];
                waits = count[v];
                patience = PATIENCE;
                if (lane == 0) ticket = warps + atomicAdd(words + TICKET, 1);
                ticket = __shfl_sync(full_mask, ticket, 0);
            } else if (parked >= 0) {
                again = parked;
                parked = -1;
                continue;
            } else {
                break;
            }
            __syncwarp();
            if (settle(v, up + offsets[v], waits, patience, g, state, colors, set)) continue;
            if (lane == 0) next[v] = parked;
            __syncwarp();
            parked = v;
            if (patience > 1) {
                again = parked;
                parked = -1;
            }
        }
    }

    // The others: every warp its own, once through all of them, then again those who still wait.
    int left = turns * 32;
    for (bool fresh = true; left; fresh = false) {
        int kept = 0;
        for (int j = 0; j < left; j += 32) {
            int4 item;
            int told = anything;
            bool stays = false;
            if (fresh) {
                const int v = mine + j / 32 * THREADS + lane;
                const int first = v < n ? offsets[v] : 0, degree = v < n ? offsets[v + 1] - first : few;
                stays = degree < few;
                if (stays) item = first_look(v, first, degree, g);
            } else if (j + lane < left) {
                item = list[j + lane];
                told = item.w;
                stays = true;
            }
            if (stays) stays = !look(item, told, g, state, colors);
            const unsigned votes = __ballot_sync(full_mask, stays);
            if (stays) list[kept + __popc(votes & ((1u << lane) - 1))] = item;  // kept <= j: that has been read
            kept += __popc(votes);
        }
        __syncwarp();
        if (kept == left) pause(100);
        left = kept;
    }
}
