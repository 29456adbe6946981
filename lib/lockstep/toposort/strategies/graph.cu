// Optimization step 2: no host decision between levels. A CUDA graph holds many copies of one step.
//
// What it computes   order: the vertices, layer after layer; levels[2 + k]: the size of layer k; at the end record 0 is
//                    {vertices sorted, number of layers, 0, 0}, if the number of steps is a multiple of three.
// Idea               a level's bounds stay on the device, in three records used in rotation: a step reads one, counts
//                    the next frontier in the second, and clears the third. All steps of a graph have the same
//                    arguments except the phase, so one captured graph serves every level; a step after the last level
//                    reads an empty frontier and returns. The host reads once per replay, not per level.
// Remaining cost     a kernel's start and end for every level (0.6 us for an empty one on an H200, more with work), and
//                    up to a replay of empty steps at the end.
//
// References: NVIDIA, CUDA C++ Programming Guide, "CUDA Graphs".
#include "device.cuh"
#include "expand.cuh"

// A record is {begin, level, 0, size}: its second 8 bytes are the counter that counts the size (see expand.cuh).
extern "C" __global__ void sources(const int* in_degrees, int* order, int* records, int n) {
    DYNAMIC_SHARED(int, shared);
    push_sources(Rows{}, in_degrees, n, order, nullptr, reinterpret_cast<Word*>(records + 2), shared);
}

// records: three; phase: 0, 1 or 2.
extern "C" __global__ void step(const int* __restrict__ first, const int* __restrict__ last,
                                const int* __restrict__ targets, int* in_degrees, int* order, unsigned long long* queue,
                                int* levels, int* records, int phase) {
    DYNAMIC_SHARED(int, shared);
    int* now = records + 4 * phase;
    int* next = records + 4 * ((phase + 1) % 3);
    int* cleared = records + 4 * ((phase + 2) % 3);
    const int4 record = *reinterpret_cast<const int4*>(now);
    const int begin = record.x, level = record.y, size = record.w;
    if (global_thread() == 0) {
        next[0] = begin + size;
        next[1] = level + (size > 0);
        cleared[3] = 0;
        if (size > 0) levels[2 + level] = size;
    }
    if (size == 0) return;
    const Rows rows = {first, last, targets};
    int* buffer = shared + warp_id() * buffer_slots;
    Word* counter = reinterpret_cast<Word*>(next + 2);
    int held = 0;
    expand<false>(rows, in_degrees, order, queue, queue, begin, begin + size, begin + size, counter, buffer, held,
                  warp_id() * gridDim.x + blockIdx.x, gridDim.x * (blockDim.x / 32));
    if (held > 0) flush(rows, buffer, held, order, queue, begin + size, counter);
}
