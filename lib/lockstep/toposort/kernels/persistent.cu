// Ladder, step 3: one launch. The blocks stay, and meet at a barrier between levels.
//
// What it computes   order: the vertices, layer after layer; levels[0]: the number of layers, levels[1]: of vertices
//                    sorted, levels[2 + k]: the size of layer k. levels holds n + 4 ints.
// Idea               a level costs a barrier and a chain of dependent accesses: row bounds, target, in-degree, place in the
//                    queue. The barrier brings the next level's size along and waits for no store (see expand.cuh). One
//                    block of 512 threads a multiprocessor: a barrier's price grows with the blocks that arrive, and a little
//                    with their threads. So while at most `width` vertices are ready, a crew of a few blocks goes on, and
//                    the others wait until there is more to do. Where a crew's warp has one vertex at most, it looks ahead:
//                    the row of its next one is there before all others have arrived. In a wide level few instructions may
//                    follow one another: lanes share a row without asking whose arc is which (expand_evenly).
// What it leaves     a level of three vertices still costs the way to L2 and back for the barrier; one of 50,000 arcs waits for
//                    as many atomics and the barrier behind them, whatever else is done (floors.py says how long that is).
//
// References: S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010;
//             K. Gupta, J. Stuart, J. Owens, "A study of persistent threads style GPU programming", InPar 2012.
#include "device.cuh"
#include "expand.cuh"

// More vertices than these are no crew's work, however few arcs they have: all blocks are faster. Not where rows are long, for a
// crew's warps share them.
constexpr int crew_at_most = 128;

// Levels of at most one vertex a warp by the crew of run_crew, whose gates these are; ends with a wider one.
// A level's vertices are entries of the queue that follow one another, so a warp knows which one will be its own before it
// knows how many there are. While it waits for the others to arrive it looks at that entry too: most are there early, and the
// row's targets then come while the gate is still shut. A warp that has no vertex, and hardly will get one, looks at the gate
// more rarely, and so leaves its address to those that do.
__device__ inline void run_ahead(const Rows& rows, int* in_degrees, int* order, Word* queue, int* levels, Word* gates, Stand& at,
                                 int* buffer, int warp, int warps, int n) {
    const int lane = lane_id();
    const bool leader = warp == 0 && lane == 0;
    Word entry = unwritten;
    int target = -1;  // of this lane, once the entry is there
    auto first_target = [&]() {
        const int arc = static_cast<int>(entry) + lane;
        target = arc < static_cast<int>(entry >> 32) ? rows.targets[arc] : -1;
    };
    while (at.size > 0 && at.size <= warps) {
        const int end = at.begin + at.size;
        Word* gate = gates + (at.step & 3);
        if (leader) levels[2 + at.level] = at.size;
        int held = 0;
        if (warp < at.size) {
            if (entry == unwritten) {
                if (lane == 0) do entry = load_relaxed(queue + at.begin + warp);
                    while (entry == unwritten);
                entry = __shfl_sync(full_mask, entry, 0);
                first_target();
            }
            push(target >= 0 && atomicSub(&in_degrees[target], 1) == 1, target, buffer, held);
            const int from = static_cast<int>(entry) + 32, to = static_cast<int>(entry >> 32);
            if (from < to) {
                const Deal rest(lane == 0, static_cast<Word>(to) << 32 | static_cast<unsigned>(from));
                for (int k = 0; k < rest.total; k += 32 * arcs_at_once) {
                    take_away(rows, rest, k, in_degrees, buffer, held);
                    flush_full(rows, buffer, held, order, queue, end, gate);
                }
            }
        }
        Word arrival = static_cast<Word>(held) << 32 | 1;
        if (lane == 0) arrival = atomicAdd(gate, arrival);
        const Word row = row_ahead(rows, buffer, held);
        if (leader) atomicExch(gates + ((at.step + 2) & 3), Word(0));  // as in meet
        if (held > 0) {
            append(rows, buffer, held, order, queue, end + static_cast<int>(__shfl_sync(full_mask, arrival, 0) >> 32), row);
            __syncwarp();
        }
        const bool idle = 4 * warp >= 5 * at.size + 8;
        Word seen = 0;
        bool open = false;
        auto look = [&]() {
            seen = load_relaxed(gate);
            open = static_cast<int>(seen) >= warps;
        };
        entry = unwritten;
        target = -1;
        if (lane == 0) {
            do {
                look();
                if (idle) {
                    if (!open) pause(100);
                } else if (end + warp < n) {
                    entry = load_relaxed(queue + end + warp);
                }
            } while (!open && entry == unwritten);
        }
        entry = __shfl_sync(full_mask, entry, 0);
        if (entry != unwritten) first_target();
        if (lane == 0) while (!open) look();
        seen = __shfl_sync(full_mask, seen, 0);
        at = {end, static_cast<int>(seen >> 32), at.level + 1, at.step + 1, 0};
    }
}

// Take arcs away, up to `slots` a lane (target: -1 for none); the vertices thus ready go into the buffer. All atomics leave before
// an answer is looked at, or each would wait for the one before.
template <int slots>
__device__ inline void take(const int* target, int* in_degrees, int* buffer, int& held) {
    int left[slots];
#pragma unroll
    for (int j = 0; j < slots; ++j) {
        left[j] = 0;
        if (target[j] >= 0) left[j] = atomicSub(&in_degrees[target[j]], 1);
    }
#pragma unroll
    for (int j = 0; j < slots; ++j) push(left[j] == 1, target[j], buffer, held);
}

// The arcs first, first + step, ... of a row that ends at `last`, `slots` of them.
template <int slots>
__device__ inline void take_row(const Rows& rows, int first, int last, int step, int* in_degrees, int* buffer, int& held) {
    int target[slots];
#pragma unroll
    for (int j = 0; j < slots; ++j) target[j] = first + j * step < last ? rows.targets[first + j * step] : -1;
    take<slots>(target, in_degrees, buffer, held);
}

// As expand, for a frontier whose vertices need no helpers. All wait for the slowest warp, so it counts how many instructions
// follow one another: nothing is divided here, and unless a row is long, the lanes that there are for a vertex of the
// warp share its row, and none asks which arc is whose.
__device__ inline void expand_evenly(const Rows& rows, int* in_degrees, int* order, Word* queue, const Word* from, int begin, int end,
                                     int base, Word* gate, int* buffer, int& held, int warp, int warps) {
    const int lane = lane_id();
    int share = 0;  // of a warp at a time, 2^share vertices
    while (share < 5 && warps << share < end - begin) ++share;
    const int lanes = 32 >> share, part = lane & (lanes - 1), stride = warps << share;
    for (int start = begin + (warp << share); start < end; start += stride) {
        const int i = start + (lane >> (5 - share));
        Word row = 0;
        if (i < end) do row = load_relaxed(from + i);
            while (row == unwritten);
        const int first = static_cast<int>(row), last = static_cast<int>(row >> 32);
        if (!__any_sync(full_mask, last - first > lanes)) {
            take_row<1>(rows, first + part, last, lanes, in_degrees, buffer, held);
            flush_full(rows, buffer, held, order, queue, base, gate);
        } else if (!__any_sync(full_mask, last - first > arcs_at_once * lanes)) {
            take_row<arcs_at_once>(rows, first + part, last, lanes, in_degrees, buffer, held);
            flush_full(rows, buffer, held, order, queue, base, gate);
        } else {
            const Deal deal(part == 0, row);
            for (int k = 0; k < deal.total; k += 32 * arcs_at_once) {
                int target[arcs_at_once];
#pragma unroll
                for (int j = 0; j < arcs_at_once; ++j) {
                    const int mine = k + 32 * j + lane;
                    const int arc = k + 32 * j < deal.total ? deal.arc(mine) : 0;
                    target[j] = mine < deal.total ? rows.targets[arc] : -1;
                }
                take<arcs_at_once>(target, in_degrees, buffer, held);
                flush_full(rows, buffer, held, order, queue, base, gate);
            }
        }
    }
}

// gates: 4 words, gates[4]: the numbers of sources and of roots, all zero. crew: blocks that go on alone with a frontier of up
// to `width` vertices, until it has more than twice as many; keep: see run_crew; helpers: most_helpers of expand.
extern "C" __global__ void __launch_bounds__(512, 1)
    persistent(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
               int* in_degrees, int* order, unsigned long long* queue, unsigned long long* roots, int* levels, int* control,
               unsigned long long* gates, unsigned* barrier, int n, int width, int crew,
               int keep, int helpers) {
    DYNAMIC_SHARED(int, shared);
    int* scratch = shared + blockDim.x / 32 * buffer_slots;
    const Rows rows = {first, last, targets};
    int* buffer = shared + warp_id() * buffer_slots;
    const int warp = warp_id() * gridDim.x + blockIdx.x;  // a few vertices go to as many multiprocessors
    const int warps = gridDim.x * (blockDim.x / 32);
    Bell silent = {nullptr, 0};
    if (threadIdx.x < 4) scratch[threadIdx.x] = 0;
    for (int i = global_thread(); i < n; i += global_threads()) queue[i] = unwritten;
    push_sources(rows, in_degrees, n, order, roots, gates + 4, shared);
    grid_barrier(barrier);
    const Word sources = load_relaxed(gates + 4);
    Stand at = {0, static_cast<int>(sources >> 32), 0, 0, 0};
    int work = static_cast<int>(sources);  // rows to expand: in the first level only those of vertices with arcs
    int turn = 0;
    if (helpers == 1) width = min(width, crew_at_most);
    while (at.size > 0) {
        if (at.level > 0 && at.size <= width) {
            if (static_cast<int>(blockIdx.x) < crew) {
                const int mine = warp_id() * crew + blockIdx.x, all = crew * (blockDim.x / 32);
                const int each = keep == 0 && helpers == 1 ? all : 0;  // what a warp keeps, or shares, it cannot look ahead to
                do {
                    run_crew(rows, in_degrees, order, queue, levels, gates, at, each, 2 * width, keep, helpers, buffer, mine, all,
                             silent);
                    run_ahead(rows, in_degrees, order, queue, levels, gates, at, buffer, mine, each, n);
                } while (at.size > 0 && at.size <= 2 * width);
                if (global_thread() == 0) hand_on(control, turn, at);
            }
            grid_barrier(barrier);
            at = take_up(control, turn++);
            if (threadIdx.x < 4) scratch[threadIdx.x] = 0;
            __syncthreads();
            continue;
        }
        if (global_thread() == 0) levels[2 + at.level] = at.size;
        const Word* from = at.level > 0 ? queue + at.begin : roots;
        if (at.level > 0) work = at.size;
        at.begin += at.size;
        int held = 0;
        Word* gate = gates + (at.step & 3);
        if (helpers == 1 || work > warps) {
            expand_evenly(rows, in_degrees, order, queue, from, 0, work, at.begin, gate, buffer, held, warp, warps);
        } else {
            expand<true>(rows, in_degrees, order, queue, from, 0, work, at.begin, gate, buffer, held, warp, warps, helpers);
        }
        at.size = meet(rows, buffer, held, order, queue, at.begin, gates, at.step++, scratch);
        ++at.level;
    }
    if (global_thread() == 0) {
        levels[0] = at.level;
        levels[1] = at.begin;
    }
}
