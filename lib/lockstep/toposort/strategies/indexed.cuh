// Levels by one block: counters in shared memory, addressed without lookups.
//
// Idea      A level of some tens of vertices is bound by the latency of one warp, not by bandwidth: dependent accesses,
//           divergent branches, and instructions, since warps share issue slots. So a level is: load the count; index
//           the list; load two arcs; increment both counters; append the vertices made ready to the next list; a
//           barrier. The lanes that process a vertex compute its row address and its position in the order.
// branches  None but for rare cases: idle lanes update a dummy word.
// rows      A record is read once, so it misses L1, and half of the accesses to L2 go to the far partition at twice the
//           latency: half of a level's time. The lane that makes a vertex ready prefetches its record without blocking.
// levels    Four levels are unrolled, so that the addresses of counters and lists are constants.
// Remaining cost
//           in a sort of a million vertices, a level of 56 vertices and 450 arcs takes 0.57 us on an H200, 0.54 us of
//           it in the level loop. By clock readings a third of that is the latency of records and most of the rest
//           instructions: some 120 per warp, with six warps per scheduler. Tried (measurements not kept): one atomic
//           for a warp's places (slower than one per lane); one or four arcs per lane; fewer threads; prefetching when
//           one predecessor remains (exceeds L1). Equivalent forms of the code differ by 5 % after compilation.
//
// References: as in narrow.cu.
#pragma once
#include "records.cuh"

// Keeps a value in a register: otherwise the compiler rereads the thread index in every level.
__device__ inline unsigned in_register(unsigned value) { return __shfl_sync(full_mask, value, lane_id()); }
__device__ inline const char* in_register(const char* p) {
    return reinterpret_cast<const char*>(__shfl_sync(full_mask, reinterpret_cast<unsigned long long>(p), lane_id()));
}

template <int k> struct Turn { __device__ constexpr operator int() const { return k; } };

// Processes levels in block 0 until the frontier is empty, a level makes more than `most` vertices ready, a list is
// full, the stop flag is set (the returned frontier is empty unless that level failed, too), or a slot conflicts (an
// arc's target shares it with a vertex of another epoch being counted; then `turn` is 1). In-degrees in global memory
// are left to write_back. The order receives numbers.
__device__ __noinline__ Position run_indexed(const Problem p, const Records r, const Position at,
                                            const StopFlag stop_flag) {
    stop_flag.drain();  // another thread requests from here on
    load_counters(p, r, at);
    uint2 count = load_two(r.counts);
    if (count.y != 0) {
        if (threadIdx.x == 0) store_relaxed(r.placed(), -1);
        return at;
    }
    const int to_number = r.to_number(), to_slot = to_number + r.epoch_bits;
    const unsigned field = r.field(), waits = 1u << r.degree_bits, epochs = field & ~(waits - 1),
        too_many = (r.most + 1) * one_vertex, record_bytes = r.record_bytes;
    const SharedAddress even = r.lists(), odd = skip(even, LIST), idle = skip(r.idle(), lane_id()),
        spare = skip(r.spare(), in_register(threadIdx.x));
    const unsigned first_chunk = in_register(threadIdx.x / chunk_lanes), at_once = blockDim.x / chunk_lanes;
    const unsigned from_last = in_register(blockDim.x - 1 - threadIdx.x);
    const SharedAddress counters = shared_address(p.hot);
    const char* records = in_register(r.records + 8 * (threadIdx.x % chunk_lanes));
    int begin = at.begin, size = 0, now = at.level;  // the last level's range in the order; the next level's number
    __syncthreads();
    auto level = [&](auto turn) {
        // A warp vote makes the condition provably uniform.
        if (__any_sync(full_mask, count.x == 0 || count.x >= too_many || count.y != 0)) return false;
        const SharedAddress from = turn & 1 ? odd : even, to = turn & 1 ? even : odd,
            counting = skip(r.counts, ((turn + 1) & 3) * 2);
        unsigned mine = load_at(skip(from, first_chunk));
        begin += size;
        size = count.x / one_vertex;
        const unsigned chunks = size + (count.x & 0xffff);
        if (from_last == 0) {  // the last warp has the least work
            store_two(skip(r.counts, ((turn + 2) & 3) * 2), 0, 0);
            p.levels[2 + now] = size;
            if (turn == 2 && stop_flag.poll()) or_at(skip(counting, 1), halt);
            if (turn == 3) {
                stop_flag.request();
                if (epochs) store_relaxed(r.placed(), begin);
            }
        }
        for (unsigned i = first_chunk; __any_sync(full_mask, i < chunks);) {
            unsigned offset = 0;
            if (__any_sync(full_mask, i >= size && i < chunks)) {  // a further chunk of a long row
                if (i >= size && i < chunks) {
                    mine = load_at(skip(from, LIST - 1 - (i - size)));
                    offset = chunk_bytes * (mine & further);
                }
                __syncwarp();  // forces a branch instead of predicated instructions of all lanes
            }
            const char* record = records + static_cast<unsigned long long>(mine >> to_number) * record_bytes;
            const uint2 two = fetch(reinterpret_cast<const uint2*>(record + offset));
            const unsigned arcs[2] = {i < chunks ? two.x : 0, i < chunks ? two.y : 0};
            SharedAddress where[2];
            unsigned place[2], one[2], before[2], others[2], gets[2];
            bool rare = false;
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const unsigned slot = arcs[j] >> to_slot;
                where[j] = arcs[j] ? skip(counters, slot / in_word) : idle;
                place[j] = slot % in_word * RECORDS;
                one[j] = 1u << place[j];
            }
            add_two(where, one, before);
            auto conflicts =
                [&](int j) { return arcs[j] && ((arcs[j] >> chunk_bits ^ before[j] >> place[j]) & epochs); };
#pragma unroll
            for (int j = 0; j < 2; ++j) {  // others: predecessors left; nonzero if the slot counts another vertex
                others[j] = arcs[j] ? ((arcs[j] >> chunk_bits) - (before[j] >> place[j])) & field : 1;
                where[j] = others[j] == 0 ? counting : idle;
                one[j] = one_vertex | (arcs[j] & further);
            }
            add_two(where, one, gets);
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                prefetch(others[j] == 0,
                         r.records + static_cast<unsigned long long>(arcs[j] >> to_number) * record_bytes, spare);
            }
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                store_if(others[j] == 0 && gets[j] < too_many, skip_bytes(to, gets[j] >> 16), arcs[j]);
                rare |= conflicts(j) || (others[j] == 0 && (arcs[j] & further));
            }
            if (rare) {
                for (int j = 0; j < 2; ++j) {
                    if (conflicts(j)) or_at(skip(counting, 1), slot_conflicts);
                    if (others[j] == 0 && !enter_further(r, to, gets[j], arcs[j])) or_at(skip(counting, 1), no_room);
                }
            }
            if (!__any_sync(full_mask, i + at_once < chunks)) break;
            i += at_once;
            mine = load_at(skip(from, i < size ? i : 0));
        }
        // The last warps, which have less work, write the level's vertices to the order and advance their slots to the
        // next epoch.
        for (unsigned i = from_last; i < size; i += blockDim.x) {
            const unsigned code = load_at(skip(from, i)), which = code >> to_slot;
            p.order[begin + i] = code >> to_number;
            if (epochs && now > at.level) {
                add_at(skip(counters, which / in_word),
                       (waits - 1 - (code >> chunk_bits & (waits - 1))) << which % in_word * RECORDS);
            }
        }
        __syncthreads();
        ++now;
        count = load_two(counting);
        return true;
    };
    for (;;) {
        if (!level(Turn<0>())) break;
        if (!level(Turn<1>())) break;
        if (!level(Turn<2>())) break;
        if (!level(Turn<3>())) break;
    }
    prefetch_wait();  // also completes the copy of the stop flag
    if (threadIdx.x == 0) store_relaxed(r.placed(), -1);
    if (count.y > halt || count.x >= too_many)
        return {begin, size, now - 1, static_cast<int>(count.y / slot_conflicts)};
    return {begin + size, 0, now, 0};
}
