// Optimization step 1 (0: naive.cu): no scan. Only a layer's vertices are expanded; the host reads each layer's size.
//
// What it computes   order: the vertices, layer after layer. level_counters: two words of 8 bytes, zero before
//                    `sources`; the upper 32 bits of level_counters[level % 2] count the vertices of layer level + 1,
//                    the lower are not used.
// Idea               the thread whose atomicSub takes an in-degree from 1 to 0 appends that vertex to the next layer.
//                    This replaces each layer's scan of all n in-degrees, with its atomicAdd for every ready vertex.
// Remaining cost     a launch and a blocking read of one number for each layer: about 25 us together on an H200.
#include "device.cuh"
#include "expand.cuh"

extern "C" __global__ void sources(const int* in_degrees, int* order, unsigned long long* level_counters, int n) {
    DYNAMIC_SHARED(int, shared);
    // Expands layer -1: counts layer 0 in level_counters[1].
    push_sources(Rows{}, in_degrees, n, order, nullptr, level_counters + 1, shared);
}

// Expands layer `level`, which is order[begin, end); the next layer is written from order[end] on and counted in
// level_counters[level % 2], while the other word, which the host has read, is cleared for the launch after this one.
// queue: row bounds of the layer's vertices, and of the next one's. Warps are numbered with the block first, so that a
// layer of fewer vertices than warps occupies all blocks.
extern "C" __global__ void frontier(const int* __restrict__ first, const int* __restrict__ last,
                                    const int* __restrict__ targets, int* in_degrees, int* order,
                                    unsigned long long* queue, unsigned long long* level_counters, int level, int begin,
                                    int end) {
    DYNAMIC_SHARED(int, shared);
    if (global_thread() == 0) level_counters[~level & 1] = 0;
    const Rows rows = {first, last, targets};
    int* buffer = shared + warp_id() * buffer_slots;
    Word* counter = level_counters + (level & 1);
    int held = 0;
    expand<false>(rows, in_degrees, order, queue, queue, begin, end, end, counter, buffer, held,
                  warp_id() * gridDim.x + blockIdx.x, gridDim.x * (blockDim.x / 32));
    if (held > 0) flush(rows, buffer, held, order, queue, end, counter);
}
