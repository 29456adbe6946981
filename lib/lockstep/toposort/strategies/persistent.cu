// Ladder, step 3: one launch. The blocks stay, and meet at a barrier between levels.
//
// What it computes   order: the vertices, layer after layer; levels[0]: the number of layers, levels[1]: of vertices
//                    sorted, levels[2 + k]: the size of layer k. levels holds n + 4 ints.
// Idea               a level costs a barrier and a chain of dependent accesses: row bounds, target, in-degree, place in the
//                    queue. The barrier brings the next level's size along and waits for no store. One block of 512 threads
//                    a multiprocessor: a barrier's price grows with the blocks that arrive, and a little with their
//                    threads. So while at most `width` vertices are ready, a crew of a few blocks goes on, and the others
//                    wait until there is more to do. How all blocks share a level, and how a crew does: resident.cuh.
// What it leaves     a level of three vertices still costs the way to L2 and back for the barrier; one of 50,000 arcs waits for
//                    as many atomics and the barrier behind them, whatever else is done (floors.py says how long that is).
//
// References: S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010;
//             K. Gupta, J. Stuart, J. Owens, "A study of persistent threads style GPU programming", InPar 2012.
#include "device.cuh"
#include "resident.cuh"

// control: 24 ints, see hand_on; gates: 4 words, gates[4]: the numbers of sources and of roots; all zero. crew: blocks that
// go on alone with a frontier of up to `width` vertices (see work_as_crew); keep: see run_crew; helpers: most_helpers of expand.
extern "C" __global__ void __launch_bounds__(512, 1)
    persistent(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
               int* in_degrees, int* order, unsigned long long* queue, unsigned long long* roots, int* levels, int* control,
               unsigned long long* gates, unsigned* barrier, int n, int width, int crew,
               int keep, int helpers) {
    DYNAMIC_SHARED(int, shared);
    int* scratch = shared + blockDim.x / 32 * buffer_slots;
    const Rows rows = {first, last, targets};
    const Sort s = {rows, in_degrees, order, queue, levels, gates, gates_of_crew(control),
                    shared + warp_id() * buffer_slots, n, helpers, keep};
    const Alone never = {0, 0, n};
    if (threadIdx.x < 5) scratch[threadIdx.x] = 0;
    for (int i = global_thread(); i < n; i += global_threads()) queue[i] = unwritten;
    push_sources(rows, in_degrees, n, order, roots, gates + 4, shared);
    grid_barrier(barrier);
    Stand at = {0, static_cast<int>(load_relaxed(gates + 4) >> 32), 0, 0, 0};
    int turn = 0;
    width = crew_width(s, width);
    while (at.size > 0) {
        if (at.level == 0 || at.size > width) {
            share_levels(s, at, never, width, roots, scratch, {nullptr});
            continue;
        }
        work_as_crew(s, at, never, width, crew, {nullptr});
        if (global_thread() == 0) hand_on(control, turn, at);
        grid_barrier(barrier);
        at = take_up(control, turn++);
        if (threadIdx.x < 4) scratch[threadIdx.x] = 0;
        __syncthreads();
    }
    if (global_thread() == 0) {
        levels[0] = at.level;
        levels[1] = at.begin;
    }
}
