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
//           asked for while that atomic is under way.
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

struct Rows {
    const int *first, *last, *targets;
};

__device__ inline Word bounds(const Rows& rows, int v) {
    return static_cast<Word>(rows.last[v]) << 32 | static_cast<unsigned>(rows.first[v]);
}

// Append the buffer's vertices to the next frontier, at order[place] and behind.
__device__ inline void append(const Rows& rows, const int* buffer, int held, int* order, Word* queue, int place, Word row) {
    for (int i = lane_id(); i < held; i += 32) {
        const int v = buffer[i];
        if (i >= 32) row = bounds(rows, v);
        order[place + i] = v;
        store_relaxed(queue + place + i, row);
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

// Expand order[begin, end): `warps` warps share it, this one is number `warp`; `buffer` is this warp's own. The sources
// (begin == 0) have no entry in queue. wait: the queue was filled in this launch, and an entry may be on its way still.
// Returns how many vertices are left in the buffer.
template <bool wait>
__device__ inline int expand(const Rows& rows, int* in_degrees, int* order, Word* queue, int begin, int end, Word* gate,
                             int* buffer, int warp, int warps) {
    const int lane = lane_id();
    const int share = min(32, (end - begin + warps - 1) / warps);
    int held = 0;
    for (long long i = begin + (long long)warp * share; i < end; i += (long long)warps * share) {
        const bool have = lane < share && i + lane < end;
        Word row = 0;
        if (have) {
            if (begin == 0) row = bounds(rows, load_relaxed(order + i + lane));
            else do row = load_relaxed(queue + i + lane);
                while (wait && row == unwritten);
        }
        const Deal deal(have, row);
        for (int k = 0; k < deal.total; k += 32 * arcs_at_once) {
            take_away(rows, deal, k, in_degrees, buffer, held);
            if (held >= 32) flush(rows, buffer, held, order, queue, end, gate);
        }
    }
    return held;
}

// All blocks meet after step `step` (0, 1, ...), and append what their warps have left. Returns the size of the next
// frontier, which starts at `base`. gates: 4 words, zero at first; scratch: 4 ints of shared memory, zero at first.
// A block's arrival is the same atomic that fetches its place in the queue. There is no fence: what the next level needs of
// other blocks is in-degrees, changed by atomics that have answered, and the queue, whose reader waits for each entry. So
// the stores need not have arrived when the barrier opens.
__device__ inline int meet(const Rows& rows, const int* buffer, int held, int* order, Word* queue, int base, Word* gates,
                           int step, int* scratch) {
    int* count = scratch + (step & 1);  // of the block
    int before = 0;
    if (lane_id() == 0 && held > 0) before = atomicAdd(count, held);
    const Word row = row_ahead(rows, buffer, held);
    __syncthreads();
    Word* gate = gates + (step & 3);
    const int total = *count;
    if (threadIdx.x == 0) {
        scratch[(step + 1) & 1] = 0;
        const Word arrival = atomicAdd(gate, static_cast<Word>(total) << 32 | 1);
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
        while (static_cast<unsigned>(seen) < gridDim.x);
        scratch[3] = static_cast<int>(seen >> 32);
    }
    __syncthreads();
    return scratch[3];
}

// Write the vertices of in-degree 0 to the start of order and count them in *size (the gate's upper half). A block takes
// stretches of 4 vertices a thread, so one atomic serves thousands; scratch: 32 ints of shared memory. in_degrees is padded
// to a multiple of 4. Every thread must call.
__device__ inline void push_sources(const int* in_degrees, int n, int* order, int* size, int* scratch) {
    const int lane = lane_id(), warp = warp_id(), warps = blockDim.x / 32;
    const int stretch = 4 * blockDim.x;
    for (long long start = (long long)blockIdx.x * stretch; start < n; start += (long long)gridDim.x * stretch) {
        const long long v = start + 4 * threadIdx.x;
        int4 degree = make_int4(1, 1, 1, 1);
        if (v < n) degree = *reinterpret_cast<const int4*>(in_degrees + v);
        const bool zero[4] = {degree.x == 0, v + 1 < n && degree.y == 0, v + 2 < n && degree.z == 0,
                              v + 3 < n && degree.w == 0};
        const int mine = zero[0] + zero[1] + zero[2] + zero[3];
        const int sum = scan_lanes(mine);
        if (lane == 31) scratch[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            const int part = lane < warps ? scratch[lane] : 0;
            const int before = scan_lanes(part) - part;
            const int total = __shfl_sync(full_mask, before + part, 31);
            int place = 0;
            if (lane == 0 && total > 0) place = atomicAdd(size, total);
            place = __shfl_sync(full_mask, place, 0);
            if (lane < warps) scratch[lane] = place + before;
        }
        __syncthreads();
        int place = scratch[warp] + sum - mine;
        for (int j = 0; j < 4; ++j) {
            if (zero[j]) order[place++] = static_cast<int>(v + j);
        }
        __syncthreads();
    }
}
