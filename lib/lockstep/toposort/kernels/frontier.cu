// Ladder, step 1: no scan. Only vertices that just became ready are looked at; the host still reads every level's size.
//
// What it computes   order: the vertices, layer after layer; levels[2 + k]: the size of layer k.
// Idea               the thread that takes a vertex's last predecessor away puts it into the next frontier, so the scan
//                    of all in-degrees for every layer goes, and its atomics on one address with it.
// What it leaves     one launch and one blocking read of a number for every layer: about 25 us on an H200.
#include "device.cuh"
#include "expand.cuh"

extern "C" __global__ void sources(const int* in_degrees, int* order, int* levels, int n) {
    DYNAMIC_SHARED(int, shared);
    push_sources(in_degrees, n, order, levels + 2, shared);
}

// Expand layer `level`, which is order[begin, end). Layer level + 1 is counted in levels[2 + level + 1], which is zero.
extern "C" __global__ void frontier(const int* __restrict__ first, const int* __restrict__ last,
                                    const int* __restrict__ targets, int* in_degrees, int* order, int* levels, int level,
                                    int begin, int end) {
    DYNAMIC_SHARED(int, shared);
    if (global_thread() == 0) levels[2 + level + 2] = 0;
    const int warps = gridDim.x * (blockDim.x / 32);
    expand(first, last, targets, in_degrees, order, begin, end, levels + 2 + level + 1,
           shared + warp_id() * buffer_slots, warp_id() * gridDim.x + blockIdx.x, warps);
}
