// The thesis's three kernels: Kahn's algorithm a layer at a time, with a scan of all vertices for each layer.
//
// What it computes   order: the vertices, layer after layer. A layer: all vertices without unplaced predecessors.
// Idea               enqueue reads every in-degree and queues the vertices with zero (a queued vertex is marked -1);
//                    dequeue writes the queue to the result and decrements the in-degree of every successor; reset
//                    empties the queue. The host launches the three for every layer and reads the queue's size.
// Why it is so       it reproduces the published code, faults included: a scan of n vertices, three launches and a
//                    blocking read for every layer, one thread a vertex, blocks as large as the GPU allows, and one
//                    atomic on one address for every vertex queued and every vertex written.
//
// References
//   [1] The thesis that this study repeats: its appendix "GPU Pseudo Code".
//   [2] A. B. Kahn, "Topological sorting of large networks", CACM 5(11), 1962.
#include "device.cuh"

extern "C" __global__ void enqueue(int* in_degrees, int* queue, int* queue_size, int n) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && in_degrees[v] == 0) {
        in_degrees[v] = -1;
        queue[atomicAdd(queue_size, 1)] = v;
    }
}

extern "C" __global__ void dequeue(const int* __restrict__ offsets, const int* __restrict__ targets, int* in_degrees,
                                   const int* queue, const int* queue_size, int* order, int* count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < *queue_size) {
        const int v = queue[i];
        order[atomicAdd(count, 1)] = v;
        for (int k = offsets[v]; k < offsets[v + 1]; ++k) atomicSub(&in_degrees[targets[k]], 1);
    }
}

extern "C" __global__ void reset(int* queue_size) {
    if (global_thread() == 0) *queue_size = 0;
}
