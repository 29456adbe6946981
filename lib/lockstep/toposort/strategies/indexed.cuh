// Levels by one block: counters in shared memory, addressed without lookups.
//
// Idea      A level of some tens of vertices is bound by the latency of one warp, not by bandwidth: dependent accesses,
//           divergent branches, and instructions, since warps share issue slots. So a level is: load the count; index
//           the list; load two arcs; increment both counters; append the vertices made ready to the next list; a
//           barrier. The lanes that process a vertex compute its row address and its position in the order.
// branches  None but for rare cases: idle lanes update a dummy word.
// rows      A record is read once, so it misses L1, and half of the accesses to L2 go to the far partition at twice the
//           latency: half of a level's time without prefetch. The lane that makes a vertex ready prefetches its record.
// levels    Four levels are unrolled, so that the addresses of counters and lists are constants.
// Remaining cost
//           in a sort of a million vertices, a level of 56 vertices and 450 arcs takes 0.57 us on an H200, 0.54 us of
//           it in the level loop. By clock readings a third of that is the latency of records and most of the rest
//           instructions: some 120 per warp, with six warps per scheduler. Tried (measurements not kept): one atomic
//           for a warp's places (slower than one per lane); one or four arcs per lane; fewer threads; prefetching when
//           one predecessor remains (exceeds L1). Equivalent forms of the code differ in speed.
//
// References: as in narrow.cu.
#pragma once
#include "records.cuh"

// Keeps a value in a register: otherwise the compiler rereads the thread index in every level.
__device__ inline unsigned in_register(unsigned value) { return __shfl_sync(full_mask, value, lane_id()); }
__device__ inline const char* in_register(const char* p) {
    return reinterpret_cast<const char*>(__shfl_sync(full_mask, reinterpret_cast<unsigned long long>(p), lane_id()));
}

template <int k> struct Phase { __device__ constexpr operator int() const { return k; } };

// Processes levels in block 0 until the frontier is empty, a level makes more than max_vertices ready, a list is
// full, the stop flag is set (the returned frontier is empty unless that level failed, too), or a slot conflicts (an
// arc's target shares it with a vertex of another epoch being counted; then `phase` is 1). In-degrees in global memory
// are left to write_back. The order receives numbers.
__device__ __noinline__ Position run_indexed(const Problem p, const Records r, const Position frontier,
                                            const StopFlag stop_flag) {
    stop_flag.drain();  // another thread requests from here on
    load_counters(p, r, frontier);
    uint2 count = load_two(r.counts);
    if (count.y != 0) {
        if (threadIdx.x == 0) store_relaxed(r.placed(), -1);
        return frontier;
    }
    const int to_number = r.to_number(), to_slot = to_number + r.epoch_bits;
    const unsigned field = r.field(), epoch_unit = 1u << r.degree_bits, epochs = field & ~(epoch_unit - 1),
        too_many = (r.max_vertices + 1) * vertex_unit, record_bytes = r.record_bytes;
    const SharedAddress even = r.lists(), odd = skip(even, list_words), lane_dummy = skip(r.lane_dummy(), lane_id()),
        thread_dummy = skip(r.thread_dummy(), in_register(threadIdx.x));
    const unsigned first_chunk = in_register(threadIdx.x / chunk_lanes), rows_at_once = blockDim.x / chunk_lanes;
    const unsigned from_last = in_register(blockDim.x - 1 - threadIdx.x);
    const SharedAddress counters = shared_address(p.hot);
    const char* records = in_register(r.records + 8 * (threadIdx.x % chunk_lanes));
    int begin = frontier.begin, size = 0;  // the last level's range in the order
    int now = frontier.level;              // the next level's number
    __syncthreads();
    auto level = [&](auto phase) {
        // A warp vote makes the condition provably uniform.
        if (__any_sync(full_mask, count.x == 0 || count.x >= too_many || count.y != 0)) return false;
        const SharedAddress from = phase & 1 ? odd : even, to = phase & 1 ? even : odd,
            next_count = skip(r.counts, ((phase + 1) & 3) * 2);
        unsigned code = load_at(skip(from, first_chunk));
        begin += size;
        size = count.x / vertex_unit;
        const unsigned chunks = size + (count.x & 0xffff);
        if (from_last == 0) {  // the last warp has the least work
            store_two(skip(r.counts, ((phase + 2) & 3) * 2), 0, 0);
            p.levels[2 + now] = size;
            if (phase == 2 && stop_flag.poll()) or_at(skip(next_count, 1), halt);
            if (phase == 3) {
                stop_flag.request();
                if (epochs) store_relaxed(r.placed(), begin);
            }
        }
        for (unsigned i = first_chunk; __any_sync(full_mask, i < chunks);) {
            unsigned offset = 0;
            if (__any_sync(full_mask, i >= size && i < chunks)) {  // a further chunk of a long row
                if (i >= size && i < chunks) {
                    code = load_at(skip(from, list_words - 1 - (i - size)));
                    offset = chunk_bytes * (code & chunk_mask);
                }
                __syncwarp();  // forces a branch instead of predicated instructions of all lanes
            }
            const char* record = records + static_cast<unsigned long long>(code >> to_number) * record_bytes;
            const uint2 loaded = fetch(reinterpret_cast<const uint2*>(record + offset));
            const unsigned arcs[2] = {i < chunks ? loaded.x : 0, i < chunks ? loaded.y : 0};
            SharedAddress counter[2];
            unsigned shift[2], increment[2], before[2], predecessors_left[2], old_count[2];
            bool slow_path = false;
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                const unsigned slot = arcs[j] >> to_slot;
                counter[j] = arcs[j] ? skip(counters, slot / slots_per_word) : lane_dummy;
                shift[j] = slot % slots_per_word * slot_bits;
                increment[j] = 1u << shift[j];
            }
            add_two(counter, increment, before);
            auto conflicts =
                [&](int j) { return arcs[j] && ((arcs[j] >> chunk_bits ^ before[j] >> shift[j]) & epochs); };
#pragma unroll
            for (int j = 0; j < 2; ++j) {  // nonzero, too, if the slot counts another vertex
                predecessors_left[j] = arcs[j] ? ((arcs[j] >> chunk_bits) - (before[j] >> shift[j])) & field : 1;
                counter[j] = predecessors_left[j] == 0 ? next_count : lane_dummy;
                increment[j] = vertex_unit | (arcs[j] & chunk_mask);
            }
            add_two(counter, increment, old_count);
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                prefetch(predecessors_left[j] == 0,
                         r.records + static_cast<unsigned long long>(arcs[j] >> to_number) * record_bytes,
                         thread_dummy);
            }
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                store_if(predecessors_left[j] == 0 && old_count[j] < too_many, skip_bytes(to, old_count[j] >> 16),
                         arcs[j]);
                slow_path |= conflicts(j) || (predecessors_left[j] == 0 && (arcs[j] & chunk_mask));
            }
            if (slow_path) {
                for (int j = 0; j < 2; ++j) {
                    if (conflicts(j)) or_at(skip(next_count, 1), slot_conflicts);
                    if (predecessors_left[j] == 0 && !enter_chunks(r, to, old_count[j], arcs[j])) {
                        or_at(skip(next_count, 1), no_room);
                    }
                }
            }
            if (!__any_sync(full_mask, i + rows_at_once < chunks)) break;
            i += rows_at_once;
            code = load_at(skip(from, i < size ? i : 0));
        }
        // The last warps, which have less work, write the level's vertices to the order and advance their slots to the
        // next epoch: what is added to a slot that has counted all predecessors carries into its epoch and clears the
        // count. The first level's slots are advanced by find_counters.
        for (unsigned i = from_last; i < size; i += blockDim.x) {
            const unsigned order_code = load_at(skip(from, i)), slot = order_code >> to_slot;
            p.order[begin + i] = order_code >> to_number;
            if (epochs && now > frontier.level) {
                add_at(skip(counters, slot / slots_per_word),
                       (epoch_unit - 1 - (order_code >> chunk_bits & (epoch_unit - 1)))
                           << slot % slots_per_word * slot_bits);
            }
        }
        __syncthreads();
        ++now;
        count = load_two(next_count);
        return true;
    };
    for (;;) {
        if (!level(Phase<0>())) break;
        if (!level(Phase<1>())) break;
        if (!level(Phase<2>())) break;
        if (!level(Phase<3>())) break;
    }
    prefetch_wait();  // also completes the copy of the stop flag
    if (threadIdx.x == 0) store_relaxed(r.placed(), -1);
    if (count.y > halt || count.x >= too_many)
        return {begin, size, now - 1, static_cast<int>(count.y / slot_conflicts)};
    return {begin + size, 0, now, 0};
}
