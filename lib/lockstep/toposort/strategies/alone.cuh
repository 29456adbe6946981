// Processes levels of few vertices by block 0 or one of its warps; see narrow.cu.
#pragma once

// Loads that are issued where they are written; the compiler would move them to where the value is used. The L1 cache
// is allowed: the data does not change after the grid barrier that the reader has passed.
#ifdef LOCKSTEP_HOST
__device__ inline int fetch(const int* p) { return *p; }
__device__ inline int4 fetch(const int4* p) { return *p; }
#else
__device__ __forceinline__ int fetch(const int* p) {
    int v;
    asm volatile("ld.global.ca.s32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
__device__ __forceinline__ int4 fetch(const int4* p) {
    int4 v;
    asm volatile("ld.global.ca.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
    return v;
}
#endif

struct Problem {
    const int *first, *last, *targets;
    int *in_degrees, *order, *levels;  // in_degrees: room for n rounded up to a multiple of 4
    int4* rows;
    int n, capacity;
    int4* ring;     // two buffers of `capacity` rows that alternate from level to level
    int* counts;    // three numbers of vertices pushed, in rotation; then the ints of shared_position
    unsigned* hot;  // in-degrees in shared memory
};

// The frontier, uniform over the threads that process it. phase: levels of run_levels so far; selects ring and count.
// run_indexed returns there whether a slot conflicted.
struct Position {
    int begin, size, level, phase;
};

__device__ inline int4 pack(const Problem& p, int v) {
    const int from = p.first[v], to = p.last[v];
    return make_int4(from, to, from < to ? p.targets[from] : -1, from + 1 < to ? p.targets[from + 1] : -1);
}

// Decrements the remaining in-degree of v; true if it is now 0.
__device__ __forceinline__ bool decrement(const Problem& p, int v) {
#if BITS == 0
    return atomicSub(&p.in_degrees[v], 1) == 1;
#else
    constexpr unsigned degrees_per_word = 32 / BITS;
    const unsigned place = static_cast<unsigned>(v) % degrees_per_word * BITS;
    const unsigned before = atomicSub(&p.hot[static_cast<unsigned>(v) / degrees_per_word], 1u << place);
    return (before >> place & ((1u << BITS) - 1)) == 1;
#endif
}

// The same for two vertices, each of which may be none (-1): both atomics are issued before either result is used. The
// compiler would issue the second one after the first has returned.
__device__ __forceinline__ void decrement(const Problem& p, int v, int w, bool& v_ready, bool& w_ready) {
#ifdef LOCKSTEP_HOST
    v_ready = v >= 0 && decrement(p, v);
    w_ready = w >= 0 && decrement(p, w);
#else
#define TWO_ATOMICS(space, address)                                                                        \
    asm volatile("{\n\t.reg .pred a, b;\n\tsetp.ge.s32 a, %2, 0;\n\tsetp.ge.s32 b, %3, 0;\n\t"              \
                 "@a atom." space ".add.u32 %0, [%4], %6;\n\t@b atom." space ".add.u32 %1, [%5], %7;\n\t}" \
                 : "+r"(before_v), "+r"(before_w)                                                          \
                 : "r"(v), "r"(w), address(at_v), address(at_w), "r"(less_v), "r"(less_w)                  \
                 : "memory")
    unsigned before_v = 0, before_w = 0;
#if BITS == 0
    const unsigned less_v = 0xffffffffu, less_w = 0xffffffffu;
    const int *at_v = p.in_degrees + v, *at_w = p.in_degrees + w;
    TWO_ATOMICS("global", "l");
    v_ready = before_v == 1;
    w_ready = before_w == 1;
#else
    constexpr unsigned degrees_per_word = 32 / BITS, all = (1u << BITS) - 1;
    const unsigned hot = static_cast<unsigned>(__cvta_generic_to_shared(p.hot));
    const unsigned place_v = static_cast<unsigned>(v) % degrees_per_word * BITS,
        place_w = static_cast<unsigned>(w) % degrees_per_word * BITS;
    const unsigned at_v = hot + static_cast<unsigned>(v) / degrees_per_word * 4,
        at_w = hot + static_cast<unsigned>(w) / degrees_per_word * 4;
    const unsigned less_v = 0u - (1u << place_v), less_w = 0u - (1u << place_w);
    TWO_ATOMICS("shared", "r");
    v_ready = (before_v >> place_v & all) == 1;
    w_ready = (before_w >> place_w & all) == 1;
#endif
#undef TWO_ATOMICS
#endif
}

// Levels before `until` of more than `lower` and at most `upper` vertices, by `threads` threads: the block, or one
// warp.
template <bool one_warp>
__device__ void run_levels(const Problem& p, Position& frontier, int lower, int upper, int until, int rank,
                           int threads) {
    const int lane = lane_id();
    while (frontier.size > lower && frontier.size <= upper && frontier.level < until) {
        const int4* now = p.ring + (frontier.phase & 1) * p.capacity;
        int4* next = p.ring + (~frontier.phase & 1) * p.capacity;
        int* pushed = p.counts + (frontier.phase + 1) % 3;
        int* found = p.order + frontier.begin + frontier.size;
        if (rank == 0) {
            p.counts[(frontier.phase + 2) % 3] = 0;
            p.levels[2 + frontier.level] = frontier.size;
        }
        auto visit = [&](int v) {
            const int4 row = fetch(p.rows + v);
            if (decrement(p, v)) {
                const int place = atomicAdd(pushed, 1);
                found[place] = v;
                if (place < p.capacity) next[place] = row;
            }
        };
        int shift = 5;  // 2^shift lanes share a vertex
        while (shift > 0 && (frontier.size << shift) > threads) --shift;
        const int group = 1 << shift;
#pragma unroll 1
        for (int base = (rank - lane) >> shift; base < frontier.size; base += threads >> shift) {
            const int i = base + (lane >> shift);
            const int4 row = i < frontier.size ? now[i] : make_int4(0, 0, -1, -1);
            const int short_end = min(row.y, row.x + 8 * group);
#pragma unroll 1
            for (int arc = row.x + (lane & (group - 1)); arc < short_end; arc += group) {
                visit(arc == row.x ? row.z : arc == row.x + 1 ? row.w : p.targets[arc]);
            }
            // The whole warp processes the rest of a long row.
            unsigned more = __ballot_sync(full_mask, (lane & (group - 1)) == 0 && row.y > short_end);
            while (more) {
                const int owner = __ffs(more) - 1;
                more &= more - 1;
                const int end = __shfl_sync(full_mask, row.y, owner);
                int arc = __shfl_sync(full_mask, short_end, owner) + lane;
#pragma unroll 1
                for (; arc < end; arc += 32) visit(p.targets[arc]);
            }
        }
        if (one_warp) __syncwarp();
        else __syncthreads();
        frontier.begin += frontier.size;
        frontier.size = *const_cast<volatile int*>(pushed);
        ++frontier.level;
        ++frontier.phase;
    }
}

// Levels before `until` of up to 32 vertices by one warp, a vertex a lane, all in registers. Ends before a level with a
// row of more than two arcs; then the frontier is in the ring again.
__device__ void run_lanes(const Problem& p, Position& frontier, int until) {
    const int lane = lane_id();
    const unsigned below = (1u << lane) - 1;
    const int4 none = make_int4(0, 0, -1, -1);
    int4 row = lane < frontier.size ? p.ring[(frontier.phase & 1) * p.capacity + lane] : none;
    int* found = p.order + frontier.begin + frontier.size;
    int* levels = p.levels + 2;
    bool has_row = lane < frontier.size;
    while (frontier.size > 0 && frontier.level < until) {
        // Idle lanes load row 0 (one broadcast), cheaper than a branch; issued first, having the longest latency.
        const int4 row_a = fetch(p.rows + max(row.z, 0)), row_b = fetch(p.rows + max(row.w, 0));
        if (__any_sync(full_mask, row.y - row.x > 2)) break;
        if (lane == 0) levels[frontier.level] = frontier.size;
        ++frontier.level;
        bool a, b;
        decrement(p, row.z, row.w, a, b);
        const unsigned all_a = __ballot_sync(full_mask, a), all_b = __ballot_sync(full_mask, b);
        const int place_a = __popc(all_a & below), place_b = __popc(all_a) + __popc(all_b & below);
        const int pushed = __popc(all_a) + __popc(all_b);
        if (a) found[place_a] = row.z;
        if (b) found[place_b] = row.w;
        found += pushed;
        frontier.begin += frontier.size;
        frontier.size = pushed;
        if (pushed > 32) {  // too many for a warp: write them to the ring
            int4* ring = p.ring + (frontier.phase & 1) * p.capacity;
            if (a) ring[place_a] = row_a;
            if (b) ring[place_b] = row_b;
            has_row = false;
            break;
        }
        // A lane keeps its first ready successor; a second one moves to an idle lane.
        has_row = a || b;
        row = a ? row_a : b ? row_b : none;
        unsigned many = all_a & all_b, idle = ~(all_a | all_b);
        while (many) {
            const int giver = __ffs(many) - 1, taker = __ffs(idle) - 1;
            many &= many - 1;
            idle &= idle - 1;
            const int4 given = make_int4(__shfl_sync(full_mask, row_b.x, giver), __shfl_sync(full_mask, row_b.y, giver),
                                         __shfl_sync(full_mask, row_b.z, giver),
                                         __shfl_sync(full_mask, row_b.w, giver));
            if (lane == taker) {
                row = given;
                has_row = true;
            }
        }
    }
    const unsigned with_rows = __ballot_sync(full_mask, has_row);
    if (has_row) p.ring[(frontier.phase & 1) * p.capacity + __popc(with_rows & below)] = row;
    __syncwarp();
}

// Levels by block 0 until the frontier is empty or exceeds the ring, or the stop flag is set (then the frontier is
// empty).
__device__ void run_block_levels(const Problem& p, Position& frontier, int warp_width, const StopFlag& stop_flag) {
    for (int i = threadIdx.x; i < frontier.size; i += blockDim.x) {
        p.ring[i] = p.rows[load_relaxed(p.order + frontier.begin + i)];
    }
    if (threadIdx.x < 3) p.counts[threadIdx.x] = 0;
    frontier.phase = 0;
    int* shared_position = p.counts + 3;
    int until = stop_flag.stop ? frontier.level + between_requests : 0x7fffffff;
    __syncthreads();
    while (frontier.size > 0 && frontier.size <= p.capacity) {
        run_levels<false>(p, frontier, warp_width, p.capacity, until, threadIdx.x, blockDim.x);
        if (frontier.size == 0 || frontier.size > p.capacity) break;
        __syncthreads();
        if (warp_id() == 0) {
            int general = 1;  // back-off: levels by run_levels before run_lanes is tried again
            for (;;) {
                if (frontier.level >= until) {
                    if (__shfl_sync(full_mask, lane_id() == 0 && stop_flag.poll(), 0)) {
                        frontier.size = 0;
                        break;
                    }
                    if (lane_id() == 0) stop_flag.request();
                    until = frontier.level + (frontier.size > 2 * warp_width ? 1 : 2) * between_requests;
                }
                if (frontier.size == 0 || frontier.size > 2 * warp_width) break;
                const int level = frontier.level;
                run_lanes(p, frontier, until);
                general = frontier.level > level ? 1 : min(2 * general, 64);
                if (frontier.size == 0 || frontier.size > 2 * warp_width) break;
                run_levels<true>(p, frontier, 0, 2 * warp_width, min(until, frontier.level + general), lane_id(), 32);
            }
            if (lane_id() == 0) {
                shared_position[0] = frontier.begin;
                shared_position[1] = frontier.size;
                shared_position[2] = frontier.level;
                shared_position[3] = frontier.phase;
                shared_position[4] = until;
            }
        }
        __syncthreads();
        frontier = {shared_position[0], shared_position[1], shared_position[2], shared_position[3]};
        until = shared_position[4];
    }
}

// Copy the in-degrees to shared memory, and back.
__device__ inline void load_degrees(const Problem& p) {
#if BITS != 0
    const int4* in_degrees = reinterpret_cast<const int4*>(p.in_degrees);
    for (int i = threadIdx.x; i < (p.n + 3) / 4; i += blockDim.x) {
        const int4 d = __ldcg(in_degrees + i);
#if BITS == 8
        p.hot[i] = d.x | d.y << 8 | d.z << 16 | static_cast<unsigned>(d.w) << 24;
#else
        p.hot[2 * i] = d.x | static_cast<unsigned>(d.y) << 16;
        p.hot[2 * i + 1] = d.z | static_cast<unsigned>(d.w) << 16;
#endif
    }
#endif
}

__device__ inline void store_degrees(const Problem& p) {
#if BITS != 0
    constexpr int degrees_per_word = 32 / BITS;
    for (int v = threadIdx.x; v < p.n; v += blockDim.x) {
        p.in_degrees[v] = p.hot[v / degrees_per_word] >> (v % degrees_per_word * BITS) & ((1u << BITS) - 1);
    }
#endif
}
