// Levels by resident blocks: what persistent.cu and narrow.cu share.
//
// all       All blocks process wide levels. The slowest warp determines the time, so expand_evenly has a short chain of
//           instructions: no division and, unless a row is long, a fixed number of lanes per row. Only the size passes
//           from one such level to the next.
// subset    A few blocks process levels of medium width; the others poll another barrier. Warps synchronize, not
//           blocks: a warp arrives once its own arcs are done, by the atomic that also reserves its places in the
//           queue, and polls the counter itself. So a level has no block barrier, and warps without work arrive early.
//           The subset is small, as every arrival is an atomic on one address. Where rows are short, all blocks are
//           faster above 128 vertices.
// prefetch  A warp with at most one vertex per level loads the next one's row before the barrier ends.
// one block narrow.cu processes levels in block 0 alone; this file detects and counts them.
// counter   Of a level barrier, an 8-byte word: its upper half counts the vertices pushed, its lower half the blocks or
//           warps arrived (and queue_unit, halt_bit). So the poll that ends the barrier returns the next level's size.
//           A subset has counters of its own: it is levels ahead while a late block polls the common ones.
//
// References: as in expand.cuh, and S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization",
// IPDPS 2010.
#pragma once
#include "resident_state.cuh"

constexpr int subset_threads = 512;  // per block that take part
// No subset takes over at larger levels, however few arcs they have, unless rows are long: its warps share those.
constexpr int max_subset_width = 128;

// Bit of a counter by which the leader cancels the sort.
constexpr unsigned halt_bit = 0x80000000u;

// Clears the counter of step + 2, last used by step - 2: all have arrived at step - 1, so none polls it. The caller
// waits for the exchange by comparing its result with `unwritten`, which never occurs; so later arrivals find it clear.
__device__ inline Word clear_ahead(Word* level_counters, int step) {
    return atomicExch(level_counters + ((step + 2) & 3), Word(0));
}

// Level barrier of all blocks, at the end of step `step` (0, 1, ...). A block arrives by the atomic that reserves its
// places in the queue, then appends its warps' buffers, then waits. Returns the size of the next frontier, which starts
// at `base`; 0 if the first thread of the grid passed halt_bit. level_counters: 4 words, initially zero; scratch: 5
// ints of shared memory, initially zero: [0], [1] the block's vertices, by the step's parity, [2] their place in the
// next frontier, [3] its size, [4] the next step, which run_all_blocks keeps between calls. No fence: a level needs of
// other blocks (1) in-degrees, changed by atomics that return before their block arrives, so a vertex becomes ready in
// the level before its own (PTX does not order relaxed accesses to two words; the hardware does, as an atomic whose
// result was used has been performed in L2); (2) the queue, whose readers poll each entry. `order` is read by other
// blocks only after a grid barrier. Block 0's last warp clears: in the first warp the exchange would delay the block's
// vertices, which other blocks poll for, by a round trip to L2.
__device__ inline int level_barrier(const Sort& s, int buffered, int base, int step, int* scratch, unsigned halt,
                                    const StopFlag& stop_flag, int level) {
    int* count = scratch + (step & 1);  // of the block
    int before = 0;
    if (lane_id() == 0 && buffered > 0) before = atomicAdd(count, buffered);
    const Word row = load_first_rows(s.rows, s.buffer, buffered);
    __syncthreads();
    Word* counter = s.level_counters + (step & 3);
    const int total = *count;
    if (threadIdx.x == 0) {
        scratch[(step + 1) & 1] = 0;
        const Word arrival = atomicAdd(counter, static_cast<Word>(total) << 32 | halt | 1);
        if (total > 0) scratch[2] = base + static_cast<int>(arrival >> 32);
    }
    const bool clears = blockIdx.x == 0 && threadIdx.x == blockDim.x - 32;
    const Word cleared = clears ? clear_ahead(s.level_counters, step) : 0;
    if (total > 0) {
        __syncthreads();
        const int place = scratch[2] + __shfl_sync(full_mask, before, 0);
        append(s.rows, s.buffer, buffered, s.order, s.queue, place, row);
    }
    if (global_thread() == 0) stop_flag.request(level);
    if (threadIdx.x == 0) {
        Word seen;
        do seen = load_relaxed(counter);
        while ((static_cast<unsigned>(seen) & ~halt_bit) < gridDim.x);
        scratch[3] = seen & halt_bit ? 0 : static_cast<int>(seen >> 32);
    }
    if (clears && cleared == unwritten) scratch[2] = 0;
    __syncthreads();
    return scratch[3];
}

// The arcs first, first + step, ... of a row that ends at `last`, `slots` of them.
template <int slots>
__device__ inline void take_row(const Sort& s, int first, int last, int step, int& buffered) {
    int target[slots];
#pragma unroll
    for (int j = 0; j < slots; ++j) target[j] = first + j * step < last ? s.rows.targets[first + j * step] : -1;
    decrement_targets<slots>(target, 32 * slots, s.in_degrees, s.buffer, buffered);
}

// As expand, for the first `end` rows of `from`, each processed by one warp.
__device__ inline void expand_evenly(const Sort& s, const Word* from, int end, int base, Word* counter, int& buffered,
                                     int warp, int warps) {
    const int lane = lane_id();
    int vertices_log2 = 0;  // a warp processes 2^vertices_log2 vertices at a time
    while (vertices_log2 < 5 && warps << vertices_log2 < end) ++vertices_log2;
    const int lanes = 32 >> vertices_log2, part = lane & (lanes - 1), stride = warps << vertices_log2;
    for (int start = warp << vertices_log2; start < end; start += stride) {
        const int i = start + (lane >> (5 - vertices_log2));
        Word row = 0;
        if (i < end) do row = load_relaxed(from + i);
            while (row == unwritten);
        const int first = static_cast<int>(row), last = static_cast<int>(row >> 32);
        if (!__any_sync(full_mask, last - first > lanes)) {
            take_row<1>(s, first + part, last, lanes, buffered);
            flush_full(s.rows, s.buffer, buffered, s.order, s.queue, base, counter);
        } else if (!__any_sync(full_mask, last - first > arcs_at_once * lanes)) {
            take_row<arcs_at_once>(s, first + part, last, lanes, buffered);
            flush_full(s.rows, s.buffer, buffered, s.order, s.queue, base, counter);
        } else {
            const LoadBalance balance(part == 0, row);
            for (int k = 0; k < balance.total; k += 32 * arcs_at_once) {
                decrement_arcs(s.rows, balance, k, s.in_degrees, s.buffer, buffered);
                flush_full(s.rows, s.buffer, buffered, s.order, s.queue, base, counter);
            }
        }
    }
}

// Processes one level by all blocks, and those after it while they have more than `handover_width` vertices, at least
// the widest level of the subset and of block 0, and are not the last. roots: rows of the sources that have arcs; the
// first level's other vertices have none.
__device__ inline void run_all_blocks(const Sort& s, FrontierState& frontier, const SingleBlockRule& rule,
                                      int handover_width, const Word* roots, int* scratch, const StopFlag& stop_flag) {
    const int warp = warp_id() * gridDim.x + blockIdx.x;  // consecutive warps on different multiprocessors
    const int warps = gridDim.x * (blockDim.x / 32);
    const bool leader = global_thread() == 0;
    frontier.narrow_levels_left -= rule.fits(frontier);
    int step = scratch[4];
    do {
        const bool halt = leader && stop_flag.poll(frontier.level, 2);
        if (leader) s.levels[2 + frontier.level] = frontier.size;
        const Word* from = frontier.level > 0 ? s.queue + frontier.begin : roots;
        const int work = frontier.level > 0 ? frontier.size : static_cast<int>(load_relaxed(s.level_counters + 4));
        frontier.begin += frontier.size;
        Word* counter = s.level_counters + (step & 3);
        int buffered = 0;
        if (s.helpers == 1 || work > warps) {
            expand_evenly(s, from, work, frontier.begin, counter, buffered, warp, warps);
        } else {
            expand<true>(s.rows, s.in_degrees, s.order, s.queue, from, 0, work, frontier.begin, counter, s.buffer,
                         buffered, warp, warps, s.helpers);
        }
        frontier.size = level_barrier(s, buffered, frontier.begin, step, scratch, halt ? halt_bit : 0, stop_flag,
                                      frontier.level);
        ++frontier.level;
        ++step;
    } while (frontier.size > handover_width && frontier.size < s.n - frontier.begin);
    if (threadIdx.x == 0) scratch[4] = step;
    __syncthreads();
}

// Processes levels of more than `lower` and at most `upper` vertices by a subset of `warps` warps, of which this is
// number `warp`; ends at any other level or one of block 0.
// A warp that made up to `max_held` (at most 32: a row a lane) vertices ready processes them itself: their rows are in
// its registers before their places in the queue are known. Their queue entries are empty rows, for warps that read the
// queue in that level; the counter counts, in units of queue_unit, the warps that queued rows which they do not hold.
constexpr unsigned queue_unit = 1u << 12;

__device__ inline void run_subset(const Sort& s, FrontierState& frontier, const SingleBlockRule& rule, int lower,
                                  int upper, int warp, int warps, const StopFlag& stop_flag) {
    const int lane = lane_id();
    const bool leader = warp == 0 && lane == 0;
    bool queued = true;
    int in_register = 0, place = 0;
    Word row = 0;  // of this lane's vertex, if lane < in_register
    while (frontier.size > lower && frontier.size <= upper && !rule.applies(frontier)) {
        frontier.narrow_levels_left -= rule.fits(frontier);
        const int end = frontier.begin + frontier.size;
        Word* counter = s.subset_counters + (frontier.step & 3);
        const bool halt = leader && stop_flag.poll(frontier.level, 2);
        if (leader) s.levels[2 + frontier.level] = frontier.size;
        int buffered = 0;
        bool flushed = false;
        if (in_register > 0) {
            const LoadBalance balance(lane < in_register, row);
            for (int k = 0; k < balance.total; k += 32 * arcs_at_once) {
                decrement_arcs(s.rows, balance, k, s.in_degrees, s.buffer, buffered);
                flushed |= flush_full(s.rows, s.buffer, buffered, s.order, s.queue, end, counter);
            }
        }
        if (queued) {
            flushed |= expand<true>(s.rows, s.in_degrees, s.order, s.queue, s.queue, frontier.begin, end, end, counter,
                                    s.buffer, buffered, warp, warps, s.helpers);
        }
        in_register = buffered <= s.max_held ? buffered : 0;
        Word arrival = static_cast<Word>(buffered) << 32 | 1;
        if (flushed || buffered > in_register) arrival += queue_unit;
        if (lane == 0) arrival = atomicAdd(counter, arrival + (halt ? halt_bit : 0));
        if (leader) stop_flag.request(frontier.level);
        row = load_first_rows(s.rows, s.buffer, buffered);
        const Word cleared = leader ? clear_ahead(s.subset_counters, frontier.step) : 0;
        if (buffered > 0) {
            place = end + static_cast<int>(__shfl_sync(full_mask, arrival, 0) >> 32);
            append(s.rows, s.buffer, buffered, s.order, s.queue, place, in_register > 0 ? Word(0) : row);
            __syncwarp();
        }
        Word seen = 0;
        if (lane == 0) {
            do seen = load_relaxed(counter);
            while ((static_cast<unsigned>(seen) & (queue_unit - 1)) < static_cast<unsigned>(warps));
            if (cleared == unwritten) seen = 0;
        }
        seen = __shfl_sync(full_mask, seen, 0);
        queued = (static_cast<unsigned>(seen) & ~halt_bit) >= queue_unit;
        frontier.begin = end;
        frontier.size = seen & halt_bit ? 0 : static_cast<int>(seen >> 32);
        ++frontier.level;
        ++frontier.step;
    }
    // Replaces the empty rows by those in registers. No warp reads them before the next grid barrier: with max_held > 0
    // there is no prefetching (see run_subset_levels), so this function is the subset's last.
    if (lane < in_register) store_relaxed(s.queue + place + lane, row);
}

// Processes levels of at most one vertex per warp by the same subset; ends at an empty or wider level or at one of
// block 0. A level's vertices are consecutive entries of the queue, so a warp's entry is known before the level's size.
// While it polls the counter, a warp also polls its entry of the next level and loads that row early. Idle warps
// (beyond 5/4 of the level's size + 2) poll less often, which reduces contention.
__device__ inline void run_subset_prefetching(const Sort& s, FrontierState& frontier, const SingleBlockRule& rule,
                                              int warp, int warps, const StopFlag& stop_flag) {
    const int lane = lane_id();
    const bool leader = warp == 0 && lane == 0;
    Word entry = unwritten;
    int target = -1;  // of this lane, once the entry is there
    auto first_target = [&]() {
        const int arc = static_cast<int>(entry) + lane;
        target = arc < static_cast<int>(entry >> 32) ? s.rows.targets[arc] : -1;
    };
    while (frontier.size > 0 && frontier.size <= warps && !rule.applies(frontier)) {
        frontier.narrow_levels_left -= rule.fits(frontier);
        const int end = frontier.begin + frontier.size;
        Word* counter = s.subset_counters + (frontier.step & 3);
        const bool halt = leader && stop_flag.poll(frontier.level, 2);
        if (leader) s.levels[2 + frontier.level] = frontier.size;
        int buffered = 0;
        if (warp < frontier.size) {
            if (entry == unwritten) {
                if (lane == 0) do entry = load_relaxed(s.queue + frontier.begin + warp);
                    while (entry == unwritten);
                entry = __shfl_sync(full_mask, entry, 0);
                first_target();
            }
            push(target >= 0 && atomicSub(&s.in_degrees[target], 1) == 1, target, s.buffer, buffered);
            const int from = static_cast<int>(entry) + 32, to = static_cast<int>(entry >> 32);
            if (from < to) {
                const LoadBalance rest(lane == 0, static_cast<Word>(to) << 32 | static_cast<unsigned>(from));
                for (int k = 0; k < rest.total; k += 32 * arcs_at_once) {
                    decrement_arcs(s.rows, rest, k, s.in_degrees, s.buffer, buffered);
                    flush_full(s.rows, s.buffer, buffered, s.order, s.queue, end, counter);
                }
            }
        }
        Word arrival = static_cast<Word>(buffered) << 32 | 1;
        if (lane == 0) arrival = atomicAdd(counter, arrival + (halt ? halt_bit : 0));
        if (leader) stop_flag.request(frontier.level);
        const Word row = load_first_rows(s.rows, s.buffer, buffered);
        const Word cleared = leader ? clear_ahead(s.subset_counters, frontier.step) : 0;
        if (buffered > 0) {
            append(s.rows, s.buffer, buffered, s.order, s.queue,
                   end + static_cast<int>(__shfl_sync(full_mask, arrival, 0) >> 32), row);
            __syncwarp();
        }
        const bool idle = 4 * warp >= 5 * frontier.size + 8;
        Word seen = 0;
        bool open = false;
        auto poll_counter = [&]() {
            seen = load_relaxed(counter);
            open = static_cast<int>(static_cast<unsigned>(seen) & ~halt_bit) >= warps;
        };
        entry = unwritten;
        target = -1;
        if (lane == 0) {
            do {
                poll_counter();
                if (idle) {
                    if (!open) pause(100);
                } else if (end + warp < s.n) {
                    entry = load_relaxed(s.queue + end + warp);
                }
            } while (!open && entry == unwritten);
        }
        entry = __shfl_sync(full_mask, entry, 0);
        if (entry != unwritten) first_target();
        if (lane == 0) {
            while (!open) poll_counter();
            if (cleared == unwritten) seen = 0;
        }
        seen = __shfl_sync(full_mask, seen, 0);
        frontier = {end, seen & halt_bit ? 0 : static_cast<int>(seen >> 32), frontier.level + 1, frontier.step + 1,
                    frontier.narrow_levels_left};
    }
}

// Widest level at which a subset takes over: max_width_long_rows, and where no row is long at most max_subset_width.
__device__ inline int subset_width(const Sort& s, int max_width_long_rows) {
    return s.helpers == 1 ? min(max_width_long_rows, max_subset_width) : max_width_long_rows;
}

// Processes levels by `subset` blocks, while the others poll the grid barrier, until one is empty, has more than 5/4
// (long rows: 2) `width` vertices, or is one of block 0. Rows are loaded ahead only where not kept or shared by warps.
__device__ inline void run_subset_levels(const Sort& s, FrontierState& frontier, const SingleBlockRule& rule, int width,
                                         int subset, const StopFlag& stop_flag) {
    if (static_cast<int>(blockIdx.x) >= subset || threadIdx.x >= subset_threads) return;
    const int warp = warp_id() * subset + blockIdx.x, warps = subset * (min(blockDim.x, subset_threads) / 32);
    const int prefetch_width = s.max_held == 0 && s.helpers == 1 ? warps : 0;
    const int max_width = s.helpers == 1 ? width + width / 4 : 2 * width;
    do {
        run_subset(s, frontier, rule, prefetch_width, max_width, warp, warps, stop_flag);
        run_subset_prefetching(s, frontier, rule, warp, prefetch_width, stop_flag);
    } while (frontier.size > 0 && frontier.size <= max_width && !rule.applies(frontier));
}
