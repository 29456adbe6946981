// Ladder, step 1: no scan. Only vertices that just became ready are looked at; the host still reads every level's size.
//
// What it computes   order: the vertices, layer after layer; a gate's upper half: the next one's size.
// Idea               the thread that takes a vertex's last predecessor away puts it into the next frontier, so the scan
//                    of all in-degrees for every layer goes, and its atomics on one address with it.
// What it leaves     one launch and one blocking read of a number for every layer: about 25 us on an H200.
#include "device.cuh"
#include "expand.cuh"

extern "C" __global__ void sources(const int* in_degrees, int* order, unsigned long long* gates, int n) {
    DYNAMIC_SHARED(int, shared);
    push_sources(Rows{}, in_degrees, n, order, nullptr, gates + 1, shared);
}

// Expand layer `level`, which is order[begin, end). The next one is counted in the upper half of gates[level % 2].
extern "C" __global__ void frontier(const int* __restrict__ first, const int* __restrict__ last,
                                    const int* __restrict__ targets, int* in_degrees, int* order,
                                    unsigned long long* queue, unsigned long long* gates, int level, int begin, int end) {
    DYNAMIC_SHARED(int, shared);
    if (global_thread() == 0) gates[~level & 1] = 0;
    const Rows rows = {first, last, targets};
    int* buffer = shared + warp_id() * buffer_slots;
    Word* gate = gates + (level & 1);
    int held = 0;
    expand<false>(rows, in_degrees, order, queue, queue, begin, end, end, gate, buffer, held,
                  warp_id() * gridDim.x + blockIdx.x, gridDim.x * (blockDim.x / 32));
    if (held > 0) flush(rows, buffer, held, order, queue, end, gate);
}
