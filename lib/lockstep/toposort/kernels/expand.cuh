// Steps that every level-synchronous kernel of this study takes: find the sources, expand a frontier, meet.
//
// The order IS the queue. A vertex is written once, at the place that it keeps: a level is a stretch of `order`, and its
// successors go right behind it. Row v of the graph is targets[first[v]] to targets[last[v] - 1] (first = offsets, last =
// offsets + 1; two pointers, so that a contracted graph can be expanded too). Beside order[i], queue[i] holds the bounds of
// that vertex's row in 8 bytes, so that the next level need not ask for vertex and row one after the other.
//
// expand    A warp takes up to 32 vertices, sums their degrees by shuffles, and deals the arcs out to its lanes: lane k
//           finds the owner of arc k by bisection among the sums. So no lane waits for a neighbour of high degree,
//           and rows are read together. Four arcs a lane are under way at once. Few vertices are spread over all
//           warps first: a level of 40 vertices is 40 warps' work.
// ready     The atomicSub that returns 1 took the last predecessor away; exactly one thread sees it. No scan.
// push      Vertices made ready gather in a buffer of the warp in shared memory (a ballot gives each its place), and
//           leave by one atomicAdd for 32 or more: one address takes only about 1.4 G atomics/s. Their rows' bounds are
//           asked for while that atomic is under way, and then the rows' beginnings for the second-level cache.
// gate      One 8-byte word a level: the upper half counts the vertices pushed, the lower half the blocks that are done.
//           So the barrier's last look brings the next level's size along.
//
// References: D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012 (gathering by scan);
//             A. Davidson et al., "Work-efficient parallel GPU methods for SSSP", IPDPS 2014 (bisection of the sums).
#pragma once

typedef unsigned long long Word;

constexpr int arcs_at_once = 4;
constexpr int buffer_slots = 32 * (arcs_at_once + 1);  // of a warp: up to 31 left over, then 32 for each arc at once
constexpr Word unwritten = ~0ull;                      // in queue: no row starts at arc -1
constexpr int max_helpers = 8;

struct Rows {
    const int *first, *last, *targets;
};

__device__ inline Word bounds(const Rows& rows, int v) {
    return static_cast<Word>(rows.last[v]) << 32 | static_cast<unsigned>(rows.first[v]);
}

// Ask for what lies there to come into the second-level cache, without waiting for it.
__device__ inline void into_l2(const void* p) {
#ifndef LOCKSTEP_HOST
    asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
#endif
}

// Append the buffer's vertices to the next frontier, at order[place] and behind.
__device__ inline void append(const Rows& rows, const int* buffer, int held, int* order, Word* queue, int place, Word row) {
    for (int i = lane_id(); i < held; i += 32) {
        const int v = buffer[i];
        if (i >= 32) row = bounds(rows, v);
        order[place + i] = v;
        store_relaxed(queue + place + i, row);
        if (static_cast<int>(row) < static_cast<int>(row >> 32)) into_l2(rows.targets + static_cast<int>(row));
    }
}

// The row of vertex `lane` of the buffer; asked for before its place is known.
__device__ inline Word row_ahead(const Rows& rows, const int* buffer, int held) {
    __syncwarp();
    return static_cast<int>(lane_id()) < held ? bounds(rows, buffer[lane_id()]) : 0;
}

// Empty the buffer; the next frontier starts at `base`, and the gate's upper half counts it.
__device__ inline void flush(const Rows& rows, const int* buffer, int& held, int* order, Word* queue, int base, Word* gate) {
    Word before = 0;
    if (lane_id() == 0) before = atomicAdd(gate, static_cast<Word>(held) << 32);
    const Word row = row_ahead(rows, buffer, held);
    append(rows, buffer, held, order, queue, base + static_cast<int>(__shfl_sync(full_mask, before, 0) >> 32), row);
    held = 0;
    __syncwarp();
}

// The same, if a warp's width is held.
__device__ inline bool flush_full(const Rows& rows, const int* buffer, int& held, int* order, Word* queue, int base, Word* gate) {
    const bool full = held >= 32;
    if (full) flush(rows, buffer, held, order, queue, base, gate);
    return full;
}

__device__ inline void push(bool ready, int v, int* buffer, int& held) {
    const unsigned all = __ballot_sync(full_mask, ready);
    if (ready) buffer[held + __popc(all & ((1u << lane_id()) - 1))] = v;
    held += __popc(all);
}

// Sum over the lanes up to and including this one.
__device__ inline int scan_lanes(int value) {
    const int lane = lane_id();
    for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(full_mask, value, step);
        if (lane >= step) value += other;
    }
    return value;
}

// The arcs of the lanes' rows, dealt out to the lanes: arc k of the warp (0 <= k < total) belongs to the first lane whose
// sum of degrees exceeds k. Every lane must call both.
struct Deal {
    int total, sum, shift;
    bool single;  // one row at most: its arcs follow one another, no lane need be looked for

    __device__ Deal(bool have, Word row) {
        const int from = static_cast<int>(row);
        const int degree = have ? static_cast<int>(row >> 32) - from : 0;
        const unsigned rows = __ballot_sync(full_mask, degree > 0);
        single = (rows & (rows - 1)) == 0;
        if (single) {
            const int owner = rows ? __ffs(rows) - 1 : 0;
            total = __shfl_sync(full_mask, degree, owner);
            shift = __shfl_sync(full_mask, from, owner);
        } else {
            sum = scan_lanes(degree);
            shift = from - (sum - degree);
            total = __shfl_sync(full_mask, sum, 31);
        }
    }
    // Index of arc k in targets.
    __device__ int arc(int k) const {
        if (single) return k + shift;
        int owner = 0;
        for (int step = 16; step > 0; step /= 2) {
            if (__shfl_sync(full_mask, sum, owner + step - 1) <= k) owner += step;
        }
        return k + __shfl_sync(full_mask, shift, owner);
    }
};

// Arcs k to k + 32 * arcs_at_once - 1 of the deal: take them away; the vertices thus ready go into the buffer.
__device__ inline void take_away(const Rows& rows, const Deal& deal, int k, int* in_degrees, int* buffer, int& held) {
    const int lane = lane_id();
    int target[arcs_at_once];
    bool ready[arcs_at_once];
#pragma unroll
    for (int j = 0; j < arcs_at_once; ++j) {
        target[j] = -1;
        if (k + 32 * j < deal.total) {
            const int mine = k + 32 * j + lane;
            const int arc = deal.arc(mine);
            if (mine < deal.total) target[j] = rows.targets[arc];
        }
    }
#pragma unroll
    for (int j = 0; j < arcs_at_once; ++j) ready[j] = target[j] >= 0 && atomicSub(&in_degrees[target[j]], 1) == 1;
#pragma unroll
    for (int j = 0; j < arcs_at_once; ++j) {
        if (k + 32 * j < deal.total) push(ready[j], target[j], buffer, held);
    }
}

// Expand the rows from[begin, end): `warps` warps share them, this one is number `warp`; `buffer` is this warp's own. What
// gets ready goes to order[base] and behind. wait: from is the queue, filled in this launch, and an entry may be on its way
// still; else the sources (begin == 0) are looked up in order. most_helpers: so many warps at most share a vertex; one is enough
// where no row has more arcs than a warp takes at once. held: how many vertices are in the buffer, before and after.
// Returns whether the buffer was emptied in between.
template <bool wait>
__device__ inline bool expand(const Rows& rows, int* in_degrees, int* order, Word* queue, const Word* from, int begin, int end,
                              int base, Word* gate, int* buffer, int& held, int warp, int warps, int most_helpers = max_helpers) {
    const int lane = lane_id(), size = end - begin;
    // A division takes a hundred cycles: none where there is a warp for each vertex.
    const int share = size <= warps ? 1 : min(32, (size + warps - 1) / warps);
    // Where warps are plenty, up to `helpers` share a vertex: a row may be long.
    const int helpers = size > 0 && most_helpers > 1 ? max(1, min(most_helpers, warps / size)) : 1;
    const int part = helpers > 1 ? warp / size : 0;
    const int mine = helpers > 1 ? warp - part * size : warp;
    bool flushed = false;
    for (long long i = begin + (long long)mine * share; i < end && part < helpers; i += (long long)warps * share) {
        const bool have = lane < share && i + lane < end;
        Word row = 0;
        if (have) {
            if (!wait && begin == 0) row = bounds(rows, load_relaxed(order + i + lane));
            else do row = load_relaxed(from + i + lane);
                while (wait && row == unwritten);
        }
        const Deal deal(have, row);
        for (int k = part * 32 * arcs_at_once; k < deal.total; k += helpers * 32 * arcs_at_once) {
            take_away(rows, deal, k, in_degrees, buffer, held);
            flushed |= flush_full(rows, buffer, held, order, queue, base, gate);
        }
    }
    return flushed;
}

// Where a sort stands; the same for all threads that work on it.
struct Stand {
    int begin, size, level;  // of the frontier in order; its layer
    int step;                // meetings so far: which gate is next
    int patience;            // narrow levels yet to be done the wide way
};

// The bit of a gate by which its leader tells all others to stop.
constexpr unsigned halt_bit = 0x80000000u;

constexpr int between_looks = 16;  // levels between two looks at whether somebody wants this to stop

// Whether somebody outside has asked to stop (stop: memory of the GPU that the host has written to, or null). What is used is the
// answer to the question before: so nothing waits for it that would not wait for an access to L2 anyway.
struct Bell {
    const Word* stop;
    Word answer;

    __device__ unsigned ask() {
        if (!stop) return 0;
        const unsigned halt = answer ? halt_bit : 0;
#ifdef LOCKSTEP_HOST
        answer = load_relaxed(stop);
#else
        asm volatile("ld.relaxed.sys.b64 %0, [%1];" : "=l"(answer) : "l"(stop));
#endif
        return halt;
    }

    __device__ unsigned ring(int level) { return level % between_looks == between_looks - 1 ? ask() : 0; }
};

// All blocks meet after step `step` (0, 1, ...), and append what their warps have left. Returns the size of the next
// frontier, which starts at `base`; 0 if the first thread of the grid brought a halt_bit. gates: 4 words, zero at first;
// scratch: 4 ints of shared memory, zero at first.
// A block's arrival is the same atomic that fetches its place in the queue. There is no fence: what the next level needs of
// other blocks is in-degrees, changed by atomics that have answered, and the queue, whose reader waits for each entry. So
// the stores need not have arrived when the barrier opens.
__device__ inline int meet(const Rows& rows, const int* buffer, int held, int* order, Word* queue, int base, Word* gates,
                           int step, int* scratch, unsigned halt = 0) {
    int* count = scratch + (step & 1);  // of the block
    int before = 0;
    if (lane_id() == 0 && held > 0) before = atomicAdd(count, held);
    const Word row = row_ahead(rows, buffer, held);
    __syncthreads();
    Word* gate = gates + (step & 3);
    const int total = *count;
    if (threadIdx.x == 0) {
        scratch[(step + 1) & 1] = 0;
        const Word arrival = atomicAdd(gate, static_cast<Word>(total) << 32 | halt | 1);
        // Cleared two steps ahead: the last to look there passed it before this block got here.
        if (blockIdx.x == 0) atomicExch(gates + ((step + 2) & 3), Word(0));
        if (total > 0) scratch[2] = base + static_cast<int>(arrival >> 32);
    }
    if (total > 0) {
        __syncthreads();
        const int place = scratch[2] + __shfl_sync(full_mask, before, 0);
        append(rows, buffer, held, order, queue, place, row);
    }
    if (threadIdx.x == 0) {
        Word seen;
        do seen = load_relaxed(gate);
        while ((static_cast<unsigned>(seen) & ~halt_bit) < gridDim.x);
        scratch[3] = seen & halt_bit ? 0 : static_cast<int>(seen >> 32);
    }
    __syncthreads();
    return scratch[3];
}

// Levels by a crew of `warps` warps in a few blocks, while all others wait elsewhere; this is warp number `warp` of it. Ends
// with no vertex or more than `most`, or with at most `least` once there is no patience left.
// Here the warps meet, not the blocks: a warp arrives as soon as its own arcs are done, with the atomic that fetches its
// places, and looks at the gate itself. So there is no block barrier in a level, and those without work arrive ahead of the
// others, who thus find the gate's address free. A crew is small because every warp's arrival is an atomic on one address.
// A warp that made up to `keep` vertices ready goes on with them itself: their rows are in its registers before their
// places in the queue are known. In the queue it leaves rows without arcs for them, in case others do look there; whether
// anybody put real rows there, the gate tells (in units of queue_unit).
constexpr unsigned queue_unit = 1u << 12;

__device__ inline void run_crew(const Rows& rows, int* in_degrees, int* order, Word* queue, int* levels, Word* gates, Stand& at,
                                int least, int most, int keep, int helpers, int* buffer, int warp, int warps, Bell& bell) {
    const int lane = lane_id();
    const bool leader = warp == 0 && lane == 0;
    bool queued = true;
    int kept = 0, place = 0;
    Word row = 0;  // of this lane's vertex, if lane < kept
    while (at.size > 0 && at.size <= most && (at.size > least || at.patience > 0)) {
        at.patience -= at.size <= least;
        const int end = at.begin + at.size;
        Word* gate = gates + (at.step & 3);
        if (leader) levels[2 + at.level] = at.size;
        int held = 0;
        bool flushed = false;
        if (kept > 0) {
            const Deal deal(lane < kept, row);
            for (int k = 0; k < deal.total; k += 32 * arcs_at_once) {
                take_away(rows, deal, k, in_degrees, buffer, held);
                flushed |= flush_full(rows, buffer, held, order, queue, end, gate);
            }
        }
        if (queued) {
            flushed |= expand<true>(rows, in_degrees, order, queue, queue, at.begin, end, end, gate, buffer, held, warp, warps, helpers);
        }
        kept = held <= keep ? held : 0;
        Word arrival = static_cast<Word>(held) << 32 | 1;
        if (flushed || held > kept) arrival += queue_unit;
        if (lane == 0) arrival = atomicAdd(gate, arrival + (leader ? bell.ring(at.level) : 0));
        row = row_ahead(rows, buffer, held);
        if (leader) atomicExch(gates + ((at.step + 2) & 3), Word(0));  // as in meet
        if (held > 0) {
            place = end + static_cast<int>(__shfl_sync(full_mask, arrival, 0) >> 32);
            append(rows, buffer, held, order, queue, place, kept > 0 ? Word(0) : row);
            __syncwarp();
        }
        Word seen = 0;
        if (lane == 0) {
            do seen = load_relaxed(gate);
            while ((static_cast<unsigned>(seen) & (queue_unit - 1)) < static_cast<unsigned>(warps));
        }
        seen = __shfl_sync(full_mask, seen, 0);
        queued = (static_cast<unsigned>(seen) & ~halt_bit) >= queue_unit;
        at.begin = end;
        at.size = seen & halt_bit ? 0 : static_cast<int>(seen >> 32);
        ++at.level;
        ++at.step;
    }
    // Whoever goes on from here finds all rows in the queue.
    if (lane < kept) store_relaxed(queue + place + lane, row);
}

// Block 0 leaves for the others where the sort stands, and takes it up. control: two sets of 8 ints, which take turns: a block
// may still read one while the next is written. A grid barrier lies between hand_on and take_up, and between a take_up and
// the hand_on after the next.
__device__ inline void hand_on(int* control, int turn, const Stand& at) {
    int* c = control + 8 * (turn & 1);
    c[0] = at.begin;
    c[1] = at.size;
    c[2] = at.level;
    c[3] = at.step;
    c[4] = at.patience;
}

__device__ inline Stand take_up(const int* control, int turn) {
    const int* c = control + 8 * (turn & 1);
    return {load_relaxed(c), load_relaxed(c + 1), load_relaxed(c + 2), load_relaxed(c + 3), load_relaxed(c + 4)};
}

constexpr int looks = 16;  // vertices that a thread looks at in one go

// Write the vertices of in-degree 0 to the start of order, and the rows of those that have arcs to roots (null: not wanted). The
// gate's upper half counts the former, its lower half the latter. A block takes `looks` vertices a thread, all asked for at
// once, and one atomic serves them all; scratch: 34 ints of shared memory. Every thread must call.
__device__ inline void push_sources(const Rows& rows, const int* in_degrees, int n, int* order, Word* roots, Word* gate,
                                    int* scratch) {
    const int lane = lane_id(), warp = warp_id(), warps = blockDim.x / 32;
    const unsigned below = (1u << lane) - 1;
    const int stretch = looks * blockDim.x;
    for (long long start = (long long)blockIdx.x * stretch; start < n; start += (long long)gridDim.x * stretch) {
        const int mine = static_cast<int>(start) + threadIdx.x;
        unsigned source = 0, root = 0;  // a bit for each vertex
        int counted = 0;                // of the warp: sources in the upper half, roots in the lower one
#pragma unroll
        for (int k = 0; k < looks; ++k) {
            const int v = mine + k * blockDim.x;
            if (v < n && in_degrees[v] == 0) source |= 1u << k;
        }
        if (roots) {
#pragma unroll
            for (int k = 0; k < looks; ++k) {
                const int v = mine + k * blockDim.x;
                if (source >> k & 1 && rows.first[v] < rows.last[v]) root |= 1u << k;
            }
        }
#pragma unroll
        for (int k = 0; k < looks; ++k) {
            counted += __popc(__ballot_sync(full_mask, source >> k & 1)) << 16 | __popc(__ballot_sync(full_mask, root >> k & 1));
        }
        if (lane == 0) scratch[warp] = counted;
        __syncthreads();
        if (warp == 0) {
            const int part = lane < warps ? scratch[lane] : 0;
            const int sum = scan_lanes(part);
            const int total = __shfl_sync(full_mask, sum, 31);
            Word before = 0;
            if (lane == 0 && total > 0) before = atomicAdd(gate, static_cast<Word>(total >> 16) << 32 | (total & 0xffff));
            if (lane < warps) scratch[lane] = sum - part;
            if (lane == 0) {
                scratch[32] = static_cast<int>(before >> 32);
                scratch[33] = static_cast<int>(before);
            }
        }
        __syncthreads();
        int place = scratch[32] + (scratch[warp] >> 16), entry = scratch[33] + (scratch[warp] & 0xffff);
#pragma unroll
        for (int k = 0; k < looks; ++k) {
            const int v = mine + k * blockDim.x;
            const unsigned sources = __ballot_sync(full_mask, source >> k & 1), with_arcs = __ballot_sync(full_mask, root >> k & 1);
            if (source >> k & 1) order[place + __popc(sources & below)] = v;
            if (root >> k & 1) roots[entry + __popc(with_arcs & below)] = bounds(rows, v);
            place += __popc(sources);
            entry += __popc(with_arcs);
        }
        __syncthreads();
    }
}
