// Steps of all toposort kernels but the published ones: find the sources, expand a frontier.
//
// `order` serves as the queue of vertices. A vertex is written once, at its final place: a level is a range of
// `order`, and its successors follow it. Row v of the graph is targets[first[v]] to targets[last[v] - 1] (first =
// offsets, last = offsets + 1; two pointers, so that a contracted graph can be expanded too). Beside order[i],
// queue[i] holds the bounds of that vertex's row in 8 bytes, which avoids a dependent load in the next level.
//
// expand    A warp reads up to 32 vertices, computes prefix sums of their degrees by shuffles, and distributes the arcs
//           over its lanes: lane k finds the owner of arc k by binary search in the sums. So lanes have equal work
//           whatever the degrees, and loads of rows coalesce. Four arcs per lane are in flight. Few vertices are spread
//           over many warps: a level of 40 vertices occupies 40, or up to most_helpers times as many.
// ready     The atomicSub that returns 1 removes the last predecessor; exactly one thread gets that result. No scan.
// push      Vertices made ready are collected in a buffer of the warp in shared memory (a ballot gives each its place)
//           and appended by one atomicAdd for 32 or more: one address takes only 1.4 G atomics/s (H200, study 0).
//           Their rows' bounds are loaded while that atomic is in flight, and then the rows' first targets are
//           prefetched into L2.
// counter   One 8-byte word a level: its upper half counts the vertices pushed.
//
// References: D. Merrill, M. Garland, A. Grimshaw, "Scalable GPU graph traversal", PPoPP 2012 (gathering by scan);
//             A. Davidson et al., "Work-efficient parallel GPU methods for SSSP", IPDPS 2014 (bisection of the sums).
#pragma once

typedef unsigned long long Word;

constexpr int arcs_at_once = 4;
// Of a warp: up to 32 left over and 32 for each of arcs_at_once pushes before flush_full.
constexpr int buffer_slots = 32 * (arcs_at_once + 1);
constexpr Word unwritten = ~0ull;  // in queue: no row starts at arc -1
constexpr int max_helpers = 8;

// The host cancels a kernel by a flag in its memory, `stop` (16 bytes, or null). A read of it takes a level or more, so
// a thread of block 0 prefetches it by an asynchronous copy into shared memory (bytes 64 to 79 of the block's,
// initially zero) and polls the copy levels later. The request delays the thread's next memory access by most of a
// microsecond, so it is made only every few levels, and if possible after the thread has arrived at a level barrier.
constexpr int flag_at = 16, head_words = 20;
constexpr int between_requests = 4;  // levels

struct StopFlag {
    const Word* stop;

    __device__ void request() const {
#ifndef LOCKSTEP_HOST
        DYNAMIC_SHARED(unsigned, head);
        const unsigned there = static_cast<unsigned>(__cvta_generic_to_shared(head + flag_at));
        if (stop) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(there), "l"(stop) : "memory");
#endif
    }
    __device__ bool poll() const {  // by the requesting thread; blocks until the copy has completed
        if (!stop) return false;
#ifdef LOCKSTEP_HOST
        return load_relaxed(stop) != 0;
#else
        DYNAMIC_SHARED(unsigned, head);
        const unsigned there = static_cast<unsigned>(__cvta_generic_to_shared(head + flag_at));
        unsigned set;
        asm volatile("cp.async.wait_all;\n\tld.volatile.shared.u32 %0, [%1];" : "=r"(set) : "r"(there) : "memory");
        return set != 0;
#endif
    }
    // Requests every between_requests levels, and polls `after` levels later.
    __device__ void request(int level) const {
        if (level % between_requests == 0) request();
    }
    __device__ bool poll(int level, int after) const { return level % between_requests == after && poll(); }
    __device__ void drain() const {
#ifndef LOCKSTEP_HOST
        if (stop) asm volatile("cp.async.wait_all;" : : : "memory");
#endif
    }
};

struct Rows {
    const int *first, *last, *targets;
};

__device__ inline Word bounds(const Rows& rows, int v) {
    return static_cast<Word>(rows.last[v]) << 32 | static_cast<unsigned>(rows.first[v]);
}

// Prefetches an address into L2.
__device__ inline void prefetch_l2(const void* p) {
#ifndef LOCKSTEP_HOST
    asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
#endif
}

// Appends the buffer's vertices to the next frontier, from order[place] on.
__device__ inline void append(const Rows& rows, const int* buffer, int buffered, int* order, Word* queue, int place,
                              Word row) {
    for (int i = lane_id(); i < buffered; i += 32) {
        const int v = buffer[i];
        if (i >= 32) row = bounds(rows, v);
        order[place + i] = v;
        store_relaxed(queue + place + i, row);
        if (static_cast<int>(row) < static_cast<int>(row >> 32)) prefetch_l2(rows.targets + static_cast<int>(row));
    }
}

// The row of vertex `lane` of the buffer; loaded before its place is known.
__device__ inline Word load_first_rows(const Rows& rows, const int* buffer, int buffered) {
    __syncwarp();
    return static_cast<int>(lane_id()) < buffered ? bounds(rows, buffer[lane_id()]) : 0;
}

// Empties the buffer; the next frontier starts at `base`, and the counter's upper half counts it.
__device__ inline void flush(const Rows& rows, const int* buffer, int& buffered, int* order, Word* queue, int base,
                             Word* counter) {
    Word before = 0;
    if (lane_id() == 0) before = atomicAdd(counter, static_cast<Word>(buffered) << 32);
    const Word row = load_first_rows(rows, buffer, buffered);
    append(rows, buffer, buffered, order, queue, base + static_cast<int>(__shfl_sync(full_mask, before, 0) >> 32), row);
    buffered = 0;
    __syncwarp();
}

// The same, if the buffer holds 32 or more.
__device__ inline bool flush_full(const Rows& rows, const int* buffer, int& buffered, int* order, Word* queue, int base,
                                  Word* counter) {
    const bool full = buffered >= 32;
    if (full) flush(rows, buffer, buffered, order, queue, base, counter);
    return full;
}

__device__ inline void push(bool ready, int v, int* buffer, int& buffered) {
    const unsigned all = __ballot_sync(full_mask, ready);
    if (ready) buffer[buffered + rank_in(all)] = v;
    buffered += __popc(all);
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

// Load balance: the arcs of the lanes' rows, distributed over the lanes. Arc k of the warp (0 <= k < total) belongs to
// the first lane whose sum of degrees exceeds k. Every lane must call the constructor and arc().
struct LoadBalance {
    int total, sum, shift;
    bool single;  // one row at most: its arcs are consecutive, no bisection

    __device__ LoadBalance(bool have, Word row) {
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

// Decrements the in-degrees of targets, up to `slots` per lane (-1: none), of the warp's first `arcs` arcs; vertices
// made ready go into the buffer. All atomics are issued before any result is used, so their latencies overlap.
template <int slots>
__device__ inline void decrement_targets(const int* target, int arcs, int* in_degrees, int* buffer, int& buffered) {
    int left[slots];
#pragma unroll
    for (int j = 0; j < slots; ++j) {
        left[j] = 0;
        if (target[j] >= 0) left[j] = atomicSub(&in_degrees[target[j]], 1);
    }
#pragma unroll
    for (int j = 0; j < slots; ++j) {
        if (32 * j < arcs) push(left[j] == 1, target[j], buffer, buffered);
    }
}

// Decrements the target in-degrees of arcs k to k + 32 * arcs_at_once - 1; vertices made ready go into the buffer.
__device__ inline void decrement_arcs(const Rows& rows, const LoadBalance& balance, int k, int* in_degrees, int* buffer,
                                      int& buffered) {
    const int lane = lane_id();
    int target[arcs_at_once];
#pragma unroll
    for (int j = 0; j < arcs_at_once; ++j) {
        target[j] = -1;
        if (k + 32 * j < balance.total) {
            const int mine = k + 32 * j + lane;
            const int arc = balance.arc(mine);
            if (mine < balance.total) target[j] = rows.targets[arc];
        }
    }
    decrement_targets<arcs_at_once>(target, balance.total - k, in_degrees, buffer, buffered);
}

// Expands the rows from[begin, end): `warps` warps share them, this one is number `warp`; `buffer` is this warp's own.
// Vertices made ready are written from order[base] on. wait: entries of `from` may still be in flight in this launch,
// so they are polled; else they were written before it, and those of the sources (begin == 0) are read from order.
// most_helpers: warps that share a vertex at most; one is enough where no row has more arcs than a warp reads at
// once. buffered: vertices in the buffer, before and after. Returns whether the buffer was emptied in between.
template <bool wait>
__device__ inline bool expand(const Rows& rows, int* in_degrees, int* order, Word* queue, const Word* from, int begin,
                              int end, int base, Word* counter, int* buffer, int& buffered, int warp, int warps,
                              int most_helpers = max_helpers) {
    const int lane = lane_id(), size = end - begin;
    // A division is slow: none here if there is a warp per vertex and most_helpers is 1.
    const int vertices_per_warp = size <= warps ? 1 : min(32, (size + warps - 1) / warps);
    // With more warps than vertices, up to `helpers` warps share a vertex: a row may be long.
    const int helpers = size > 0 && most_helpers > 1 ? max(1, min(most_helpers, warps / size)) : 1;
    const int part = helpers > 1 ? warp / size : 0;
    const int mine = helpers > 1 ? warp - part * size : warp;
    bool flushed = false;
    for (long long i = begin + (long long)mine * vertices_per_warp; i < end && part < helpers;
         i += (long long)warps * vertices_per_warp) {
        const bool have = lane < vertices_per_warp && i + lane < end;
        Word row = 0;
        if (have) {
            if (!wait && begin == 0) row = bounds(rows, load_relaxed(order + i + lane));
            else do row = load_relaxed(from + i + lane);
                while (wait && row == unwritten);
        }
        const LoadBalance balance(have, row);
        for (int k = part * 32 * arcs_at_once; k < balance.total; k += helpers * 32 * arcs_at_once) {
            decrement_arcs(rows, balance, k, in_degrees, buffer, buffered);
            flushed |= flush_full(rows, buffer, buffered, order, queue, base, counter);
        }
    }
    return flushed;
}

constexpr int vertices_per_thread = 16;  // vertices whose in-degrees a thread reads at once

// Writes the vertices of in-degree 0 to the start of order, and the rows of those that have arcs to roots (null: none).
// The counter's upper half counts the former, its lower half the latter. A block reads `vertices_per_thread` vertices a
// thread, all loads issued at once, and appends them by one atomic; scratch: 34 ints of shared memory. most: most
// vertices are sources, so all rows are loaded at once, too. Every thread must call.
__device__ inline void push_sources(const Rows& rows, const int* in_degrees, int n, int* order, Word* roots,
                                    Word* counter, int* scratch, bool most = false) {
    const int lane = lane_id(), warp = warp_id(), warps = blockDim.x / 32;
    const unsigned below = (1u << lane) - 1;
    const int stretch = vertices_per_thread * blockDim.x;
    for (long long start = (long long)blockIdx.x * stretch; start < n; start += (long long)gridDim.x * stretch) {
        const int mine = static_cast<int>(start) + threadIdx.x;
        unsigned source = 0, root = 0;  // a bit for each vertex
        int counted = 0;                // of the warp: sources in the upper half, roots in the lower one
        if (roots && most) {
#pragma unroll
            for (int k = 0; k < vertices_per_thread; ++k) {
                const int v = mine + k * blockDim.x;
                if (v < n && rows.first[v] < rows.last[v]) root |= 1u << k;
            }
        }
#pragma unroll
        for (int k = 0; k < vertices_per_thread; ++k) {
            const int v = mine + k * blockDim.x;
            if (v < n && in_degrees[v] == 0) source |= 1u << k;
        }
        root &= source;
        if (roots && !most) {
#pragma unroll
            for (int k = 0; k < vertices_per_thread; ++k) {
                const int v = mine + k * blockDim.x;
                if (source >> k & 1 && rows.first[v] < rows.last[v]) root |= 1u << k;
            }
        }
#pragma unroll
        for (int k = 0; k < vertices_per_thread; ++k) {
            counted += __popc(__ballot_sync(full_mask, source >> k & 1)) << 16
                       | __popc(__ballot_sync(full_mask, root >> k & 1));
        }
        if (lane == 0) scratch[warp] = counted;
        __syncthreads();
        if (warp == 0) {
            const int part = lane < warps ? scratch[lane] : 0;
            const int sum = scan_lanes(part);
            const int total = __shfl_sync(full_mask, sum, 31);
            Word before = 0;
            if (lane == 0 && total > 0)
                before = atomicAdd(counter, static_cast<Word>(total >> 16) << 32 | (total & 0xffff));
            if (lane < warps) scratch[lane] = sum - part;
            if (lane == 0) {
                scratch[32] = static_cast<int>(before >> 32);
                scratch[33] = static_cast<int>(before);
            }
        }
        __syncthreads();
        int place = scratch[32] + (scratch[warp] >> 16), entry = scratch[33] + (scratch[warp] & 0xffff);
#pragma unroll
        for (int k = 0; k < vertices_per_thread; ++k) {
            const int v = mine + k * blockDim.x;
            const unsigned sources = __ballot_sync(full_mask, source >> k & 1),
                with_arcs = __ballot_sync(full_mask, root >> k & 1);
            if (source >> k & 1) order[place + __popc(sources & below)] = v;
            if (root >> k & 1) roots[entry + __popc(with_arcs & below)] = bounds(rows, v);
            place += __popc(sources);
            entry += __popc(with_arcs);
        }
        __syncthreads();
    }
}
