// Levels by one block that has a counter for every vertex in its shared memory.
//
// Codes, records and lists are those of records.cuh, but nothing is looked up: where a vertex is counted, its number says. So an arc
// costs a third of the instructions of counted.cuh, and records are not asked for beforehand: nearly all graphs that fit have theirs
// in L2.
// What it leaves
//           a level of 56 vertices and 450 arcs takes 0.77 us on an H200 in a graph of 200,000 vertices (0.65 in a trial with 140,000),
//           most of it the wait for the records. With four bits to a counter eight neighbors share a word: where ids follow the
//           levels, these are counted down one after another, and a table is faster by a fifth (window-dag-3e5-9e5 and 4e5-12e5). And
//           levels of a few vertices, as in commit histories and on roads, take 2 and 1.15 times as long as by lanes that hold
//           rows (narrow.cu). Tried, and no faster: to ask for records beforehand; levels of a few chunks by one warp, without a
//           barrier of the block.
#pragma once
#include "records.cuh"

// Block 0 alone: levels until the frontier is empty, or has more than `most` vertices or chunks than a list holds, or the bell rings
// (then the frontier is empty). Remaining in-degrees are in global memory before and after; meanwhile they have BITS each in p.hot.
__device__ __noinline__ Position go_indexed(const Problem p, const Records r, const Position at, const Bell bell, int most) {
    constexpr unsigned in_word = 32 / BITS, all = (1u << BITS) - 1;
    bell.hang_up();  // another thread asks from here on
    warm_up(p);
    clear_counts(r);
    __syncthreads();
    list_frontier(p, r, at);
    const Spot counters = spot(p.hot);
    const int to_number = 32 - r.bits;
    const unsigned limit = static_cast<unsigned>(most) * one_vertex, last_place = r.capacity - most_chunks;
    const char* records = r.records + 4 * (threadIdx.x % chunk_arcs);
    const bool clerk = threadIdx.x == blockDim.x - 1;  // of the warp that has the least to do
    const int before_first = at.level - 1;
    int* found = p.order + at.begin;
    unsigned now = 1, list = 0;  // levels counted from 1, and which of the two lists is the frontier
    uint2 count = get_two(r.counts);
    __syncthreads();
    while (count.x != 0 && count.y == 0) {
        const unsigned chunks = count.x & (one_vertex - 1);
        const Spot from = skip(r.lists, list), to = skip(r.lists, r.capacity - list), counting = skip(r.counts, (now & 3) * 2);
        found += count.x / one_vertex;
        if (clerk) {
            put_two(skip(r.counts, ((now + 1) & 3) * 2), 0, 0);
            p.levels[2 + before_first + now] = count.x / one_vertex;
            if (bell.rings(now, 3)) put_there(skip(counting, 1), halt);
            bell.ask(static_cast<int>(now));
        }
        for (unsigned i = threadIdx.x / chunk_arcs; i < chunks; i += blockDim.x / chunk_arcs) {
            const unsigned word = fetch(reinterpret_cast<const unsigned*>(records + get_there(skip(from, i))));
            if (word == 0) continue;  // the row has ended
            const unsigned v = word >> to_number, place = v % in_word * BITS;
            const unsigned before = add_there(skip(counters, v / in_word), 0u - (1u << place)) >> place & all;
            if (before != 1) continue;
            const unsigned own = word & 7u, record = v << r.record_bits;
            const unsigned gets = add_there(counting, one_vertex | own), first = gets & (one_vertex - 1);
            found[gets / one_vertex] = v;
            if (gets >= limit || first > last_place) {
                put_there(skip(counting, 1), leave);
            } else {
                const Spot mine = skip(to, first);
                if (own > 0) put_there(mine, record);
                if (own > 1) put_there(skip(mine, 1), record + chunk_bytes);
                for (unsigned c = 2; c < own; ++c) put_there(skip(mine, c), record + c * chunk_bytes);
            }
        }
        __syncthreads();
        count = get_two(counting);
        list = r.capacity - list;
        ++now;
    }
    const int size = count.y == halt ? 0 : static_cast<int>(count.x / one_vertex);
    if (size > 0) cool_down(p);
    bell.hang_up();
    return {static_cast<int>(found - p.order), size, before_first + static_cast<int>(now), 0};
}
