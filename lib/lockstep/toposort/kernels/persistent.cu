// Ladder, step 3: one launch. The blocks stay and meet at a grid barrier between levels.
//
// What it computes   order: the vertices, layer after layer; levels[0]: the number of layers, levels[1]: of vertices
//                    sorted, levels[2 + k]: the size of layer k. levels holds n + 4 ints.
// Idea               a level costs a barrier and a chain of dependent accesses: row bounds, target, in-degree, place in the
//                    queue. The barrier brings the next level's size along and waits for no store (see expand.cuh). One
//                    block of 512 threads a multiprocessor: a barrier's price grows with the blocks that arrive, and a little
//                    with their threads.
// What it leaves     the whole GPU waits for a level of three vertices as for one of a million.
//
// References: S. Xiao, W. Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010;
//             K. Gupta, J. Stuart, J. Owens, "A study of persistent threads style GPU programming", InPar 2012.
#include "device.cuh"
#include "expand.cuh"

// gates: 4 words, gates[4]: the number of sources, all zero.
extern "C" __global__ void __launch_bounds__(1024, 1)
    persistent(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
               int* in_degrees, int* order, unsigned long long* queue, int* levels, unsigned long long* gates,
               unsigned* barrier, int n) {
    DYNAMIC_SHARED(int, shared);
    int* scratch = shared + blockDim.x / 32 * buffer_slots;
    const Rows rows = {first, last, targets};
    int* buffer = shared + warp_id() * buffer_slots;
    int* sources = reinterpret_cast<int*>(gates + 4);
    const int warp = warp_id() * gridDim.x + blockIdx.x;  // a few vertices go to as many multiprocessors
    const int warps = gridDim.x * (blockDim.x / 32);
    if (threadIdx.x < 4) scratch[threadIdx.x] = 0;
    for (int i = global_thread(); i < n; i += global_threads()) queue[i] = unwritten;
    push_sources(in_degrees, n, order, sources, shared);
    grid_barrier(barrier);
    int begin = 0, level = 0, size = load_relaxed(sources);
    while (size > 0) {
        if (global_thread() == 0) levels[2 + level] = size;
        const int held = expand<true>(rows, in_degrees, order, queue, begin, begin + size, gates + (level & 3), buffer,
                                      warp, warps);
        begin += size;
        size = meet(rows, buffer, held, order, queue, begin, gates, level, scratch);
        ++level;
    }
    if (global_thread() == 0) {
        levels[0] = level;
        levels[1] = begin;
    }
}
