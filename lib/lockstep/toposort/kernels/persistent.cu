// Ladder, step 3: one launch. The blocks stay, and meet at a barrier between levels.
//
// What it computes   order: the vertices, layer after layer; levels[0]: the number of layers, levels[1]: of vertices
//                    sorted, levels[2 + k]: the size of layer k. levels holds n + 4 ints.
// Idea               a level costs a barrier and a chain of dependent accesses: row bounds, target, in-degree, place in the
//                    queue. The barrier brings the next level's size along and waits for no store (see expand.cuh). One
//                    block of 512 threads a multiprocessor: a barrier's price grows with the blocks that arrive, and a little
//                    with their threads. So while at most `width` vertices are ready, a crew of a few blocks goes on, and
//                    the others wait until there is more to do.
// What it leaves     a level of three vertices still costs the way to L2 and back for the barrier.
//
// References: S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010;
//             K. Gupta, J. Stuart, J. Owens, "A study of persistent threads style GPU programming", InPar 2012.
#include "device.cuh"
#include "expand.cuh"

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
    while (at.size > 0) {
        if (at.level > 0 && at.size <= width) {
            if (static_cast<int>(blockIdx.x) < crew) {
                run_crew(rows, in_degrees, order, queue, levels, gates, at, 0, 2 * width, keep, helpers, buffer,
                         warp_id() * crew + blockIdx.x, crew * (blockDim.x / 32), silent);
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
        expand<true>(rows, in_degrees, order, queue, from, 0, work, at.begin, gates + (at.step & 3), buffer, held, warp, warps, helpers);
        at.size = meet(rows, buffer, held, order, queue, at.begin, gates, at.step++, scratch);
        ++at.level;
    }
    if (global_thread() == 0) {
        levels[0] = at.level;
        levels[1] = at.begin;
    }
}
