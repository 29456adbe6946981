// Ladder, step 3: one launch. The blocks stay and meet at a grid barrier between levels.
//
// What it computes   order: the vertices, layer after layer; levels[0]: the number of layers, levels[1]: of vertices
//                    sorted, levels[2 + k]: the size of layer k. levels holds n + 4 ints, of which the first 4 are zero.
// Idea               a level costs a barrier (about 1 us with one block on each of 132 multiprocessors) and a chain of
//                    dependent accesses: size, vertex, row, target, in-degree, place in the queue. One block of 1,024
//                    threads a multiprocessor: a barrier's price grows with the blocks that arrive.
// What it leaves     the whole GPU waits for a level of three vertices as for one of a million.
//
// References: S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010;
//             K. Gupta, J. Stuart, J. Owens, "A study of persistent threads style GPU programming", InPar 2012.
#include "device.cuh"
#include "expand.cuh"

extern "C" __global__ void __launch_bounds__(1024)
    persistent(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
               int* in_degrees, int* order, int* levels, unsigned* barrier, int n) {
    DYNAMIC_SHARED(int, shared);
    int* buffer = shared + warp_id() * buffer_slots;
    const int warp = warp_id() * gridDim.x + blockIdx.x;  // a few vertices go to as many multiprocessors
    const int warps = gridDim.x * (blockDim.x / 32);
    push_sources(in_degrees, n, order, levels + 2, shared);
    grid_barrier(barrier);
    int begin = 0, level = 0;
    for (;;) {
        const int size = load_relaxed(levels + 2 + level);
        if (size == 0) break;
        if (global_thread() == 0) levels[2 + level + 2] = 0;  // two ahead: nobody counts or reads there now
        expand(first, last, targets, in_degrees, order, begin, begin + size, levels + 2 + level + 1, buffer, warp, warps);
        begin += size;
        ++level;
        grid_barrier(barrier);
    }
    if (global_thread() == 0) {
        levels[0] = level;
        levels[1] = begin;
    }
}
