// Levels by one block that counts in its shared memory, and looks nothing up.
//
// Idea      What a level of some tens of vertices costs is not bandwidth but one warp's way through it: every access that waits for the
//           one before, every branch that lanes do not take together, and every instruction, for some warps wait for one another's.
//           So a level is: how many vertices there are; which one is mine; two of its arcs; count both; a place in the next list
//           for what gets ready; a barrier. Where a vertex's row is, and its place in the order, is left to the lanes that take it.
// branches  None but for what is rare. Who has nothing to count, or to enter, counts on a word of its own that nobody reads.
// rows      Nobody else has read a record before, so it comes from the far half of L2, twice as long a way as from the near one: half of
//           a level. So who finds that a vertex is ready asks for its record, and nobody waits for it.
// levels    Four are written out one after another, so that where each counts and which list is whose needs no computing.
// What it leaves
//           a level of 56 vertices and 450 arcs takes 0.57 us on an H200, of which 0.54 in the levels themselves (a million vertices).
//           By clocks read on the way a third of that is the wait for records and most of the rest are instructions: some 120 of a
//           warp, while five others want to be served, too. Tried in trials of which no rows are kept: one atomic for a warp's
//           places (dearer than one for each lane); one or four arcs to a lane; fewer threads; to ask for records when one
//           predecessor remains (too many for the first-level cache). Which of equal forms the compiler makes moves it by 5 %.
//
// References: as in narrow.cu.
#pragma once
#include "records.cuh"

// A value that stays in its register: else the compiler would ask for the thread's number anew in every level.
__device__ inline unsigned kept(unsigned value) { return __shfl_sync(full_mask, value, lane_id()); }
__device__ inline const char* kept(const char* p) {
    return reinterpret_cast<const char*>(__shfl_sync(full_mask, reinterpret_cast<unsigned long long>(p), lane_id()));
}

template <int k> struct Turn { __device__ constexpr operator int() const { return k; } };

// Block 0 alone: levels until the frontier is empty, or a level makes more than `most` vertices ready, or the bell rings (then the frontier is
// empty, unless that level failed, too), or an arc finds a stranger in its target's slot (then `turn` is 1). Remaining in-degrees stay as they were: settle counts them
// down. In the order it leaves numbers.
__device__ __noinline__ Position go_indexed(const Problem p, const Records r, const Position at, const Bell bell) {
    bell.hang_up();  // another thread asks from here on
    set_up(p, r, at);
    uint2 count = get_two(r.counts);
    if (count.y != 0) {
        if (threadIdx.x == 0) store_relaxed(r.placed(), -1);
        return at;
    }
    const int to_number = r.to_number(), to_slot = to_number + r.epoch_bits;
    const unsigned field = r.field(), waits = 1u << r.degree_bits, epochs = field & ~(waits - 1), too_many = (r.most + 1) * one_vertex, record_bytes = r.record_bytes;
    const Spot even = r.lists(), odd = skip(even, LIST), idle = skip(r.idle(), lane_id()), spare = skip(r.spare(), kept(threadIdx.x));
    const unsigned first_chunk = kept(threadIdx.x / chunk_lanes), at_once = blockDim.x / chunk_lanes;
    const unsigned from_last = kept(blockDim.x - 1 - threadIdx.x);
    const Spot counters = spot(p.hot);
    const char* records = kept(r.records + 8 * (threadIdx.x % chunk_lanes));
    int begin = at.begin, size = 0, now = at.level;  // of the level, in the order; its number, and one
    __syncthreads();
    auto level = [&](auto turn) {
        // A vote, for the compiler to see that all agree.
        if (__any_sync(full_mask, count.x == 0 || count.x >= too_many || count.y != 0)) return false;
        const Spot from = turn & 1 ? odd : even, to = turn & 1 ? even : odd, counting = skip(r.counts, ((turn + 1) & 3) * 2);
        unsigned mine = get_there(skip(from, first_chunk));
        begin += size;
        size = count.x / one_vertex;
        const unsigned chunks = size + (count.x & 0xffff);
        if (from_last == 0) {  // of the warp that has the least to do
            put_two(skip(r.counts, ((turn + 2) & 3) * 2), 0, 0);
            p.levels[2 + now] = size;
            if (turn == 2 && bell.rings()) or_there(skip(counting, 1), halt);
            if (turn == 3) {
                bell.ask();
                if (epochs) store_relaxed(r.placed(), begin);
            }
        }
        for (unsigned i = first_chunk; __any_sync(full_mask, i < chunks);) {
            unsigned offset = 0;
            if (__any_sync(full_mask, i >= size && i < chunks)) {  // a further chunk of a long row
                if (i >= size && i < chunks) {
                    mine = get_there(skip(from, LIST - 1 - (i - size)));
                    offset = chunk_bytes * (mine & further);
                }
                __syncwarp();  // and so a branch, not instructions for everybody
            }
            const char* record = records + static_cast<unsigned long long>(mine >> to_number) * record_bytes;
            const uint2 two = fetch(reinterpret_cast<const uint2*>(record + offset));
            const unsigned arcs[2] = {i < chunks ? two.x : 0, i < chunks ? two.y : 0};
            Spot where[2];
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
            auto strange = [&](int j) { return arcs[j] && ((arcs[j] >> chunk_bits ^ before[j] >> place[j]) & epochs); };
#pragma unroll
            for (int j = 0; j < 2; ++j) {  // predecessors that are left; not 0 if the slot is another vertex's
                others[j] = arcs[j] ? ((arcs[j] >> chunk_bits) - (before[j] >> place[j])) & field : 1;
                where[j] = others[j] == 0 ? counting : idle;
                one[j] = one_vertex | (arcs[j] & further);
            }
            add_two(where, one, gets);
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                ask_for(others[j] == 0, r.records + static_cast<unsigned long long>(arcs[j] >> to_number) * record_bytes, spare);
            }
#pragma unroll
            for (int j = 0; j < 2; ++j) {
                put_if(others[j] == 0 && gets[j] < too_many, skip_bytes(to, gets[j] >> 16), arcs[j]);
                rare |= strange(j) || (others[j] == 0 && (arcs[j] & further));
            }
            if (rare) {
                for (int j = 0; j < 2; ++j) {
                    if (strange(j)) or_there(skip(counting, 1), strangers);
                    if (others[j] == 0 && !enter_further(r, to, gets[j], arcs[j])) or_there(skip(counting, 1), no_room);
                }
            }
            if (!__any_sync(full_mask, i + at_once < chunks)) break;
            i += at_once;
            mine = get_there(skip(from, i < size ? i : 0));
        }
        // The last warps, which have less to do: the level's vertices into the order. A slot's next vertex may come now.
        for (unsigned i = from_last; i < size; i += blockDim.x) {
            const unsigned code = get_there(skip(from, i)), which = code >> to_slot;
            p.order[begin + i] = code >> to_number;
            if (epochs && now > at.level) {
                add_there(skip(counters, which / in_word), (waits - 1 - (code >> chunk_bits & (waits - 1))) << which % in_word * RECORDS);
            }
        }
        __syncthreads();
        ++now;
        count = get_two(counting);
        return true;
    };
    for (;;) {
        if (!level(Turn<0>())) break;
        if (!level(Turn<1>())) break;
        if (!level(Turn<2>())) break;
        if (!level(Turn<3>())) break;
    }
    asked_done();  // the bell, too
    if (threadIdx.x == 0) store_relaxed(r.placed(), -1);
    if (count.y > halt || count.x >= too_many) return {begin, size, now - 1, static_cast<int>(count.y / strangers)};
    return {begin + size, 0, now, 0};
}
