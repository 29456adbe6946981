// One launch: persistent blocks with a grid barrier between levels.
//
// What it computes   order: the vertices, layer after layer; levels[0]: the number of layers, levels[1]: of vertices
//                    sorted, levels[2 + k]: the size of layer k. levels holds n + 4 ints.
// Idea               a level costs a barrier and a chain of dependent accesses: row bounds, target, in-degree, place in
//                    the queue. The barrier returns the next level's size and has no fence. A barrier's cost grows with
//                    the number of blocks, and slightly with their threads; so there is one block of 512 threads per
//                    multiprocessor, and a subset of few blocks processes levels of at most `width` vertices while the
//                    others poll a barrier. Levels of all blocks and of a subset: resident.cuh.
// Remaining cost     a level of three vertices still costs a round trip to L2 for the barrier; one of 50,000 arcs costs
//                    as many atomics and the barrier after them (floors.py computes both).
//
// References: S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010;
//             K. Gupta, J. Stuart, J. Owens, "A study of persistent threads style GPU programming", InPar 2012.
#include "device.cuh"
#include "resident.cuh"

// control: 24 ints, see save_frontier; level_counters: 4 counters (see resident.cuh), then one word that counts sources
// and roots; all zero. subset: blocks that process a level of up to `width` vertices (see run_subset_levels); max_held:
// see run_subset; helpers: most_helpers of expand.
extern "C" __global__ void __launch_bounds__(512, 1)
    persistent(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
               int* in_degrees, int* order, unsigned long long* queue, unsigned long long* roots, int* levels,
               int* control, unsigned long long* level_counters, unsigned* barrier, int n, int width, int subset,
               int max_held, int helpers) {
    DYNAMIC_SHARED(int, shared);
    int* scratch = shared + blockDim.x / 32 * buffer_slots;
    const Rows rows = {first, last, targets};
    const Sort s = {rows, in_degrees, order, queue, levels, level_counters, counters_of_subset(control),
                    shared + warp_id() * buffer_slots, n, helpers, max_held};
    const SingleBlockRule disabled = {0, 0, n};
    if (threadIdx.x < 5) scratch[threadIdx.x] = 0;
    for (int i = global_thread(); i < n; i += global_threads()) queue[i] = unwritten;
    push_sources(rows, in_degrees, n, order, roots, level_counters + 4, shared);
    grid_barrier(barrier);
    FrontierState frontier = {0, static_cast<int>(load_relaxed(level_counters + 4) >> 32), 0, 0, 0};
    int exchanges = 0;
    width = subset_width(s, width);
    while (frontier.size > 0) {
        if (frontier.level == 0 || frontier.size > width) {
            run_all_blocks(s, frontier, disabled, width, roots, scratch, {nullptr});
            continue;
        }
        run_subset_levels(s, frontier, disabled, width, subset, {nullptr});
        if (global_thread() == 0) save_frontier(control, exchanges, frontier);
        grid_barrier(barrier);
        frontier = load_frontier(control, exchanges++);
        if (threadIdx.x < 4) scratch[threadIdx.x] = 0;
        __syncthreads();
    }
    if (global_thread() == 0) {
        levels[0] = frontier.level;
        levels[1] = frontier.begin;
    }
}
