// Distances between all pairs along positive weights: a lane for each target, WIDTH lanes for each vertex, a block for
// some or all groups of WIDTH targets of a graph.
//
// distance[v][lane] is the length of the shortest path known from v to the lane's target. A round lowers it to the
// minimum of arc length + distance over v's out-neighbors; rounds repeat until one changes nothing. They may read what
// others just wrote: distances only fall, each is that of a real path, and the only fixed point is the result of
// Dijkstra's algorithm, to the last bit (rounded sums are monotone). Paths are summed from the target's end.
//
// WIDTH: targets of a group. HOLDS=0: distances lie in global memory.
//
// compile: WIDTH=8,16,32
// compile: WIDTH=32 HOLDS=0 WIDE=1
#include "pack.cuh"

// items: graph, first group, groups. matrix: entry [matrix_start[graph] + v * n + t]; -1 where there is no path.
extern "C" __global__ void __launch_bounds__(1024, 1) lengths(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    const float* __restrict__ weights, unsigned char* scratch, long long stride,
    const long long* __restrict__ matrix_start, double* matrix) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int threads = blockDim.x, t = block_thread(), lane = t & (WIDTH - 1);
    const double infinity = __longlong_as_double(0x7ff0000000000000LL);
    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item], first = items[3 * item + 1], groups = items[3 * item + 2];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        const float* const arc_length = weights + p.arc;
        const int n = p.n;
        BumpAllocator state{HOLDS == 0 ? scratch + (long long)blockIdx.x * stride : shared + 16};
        double* const distance = state.allocate<double>((long long)n * WIDTH);
        double* const graph_matrix = matrix + matrix_start[graph];
        for (int group = first; group < first + groups; ++group) {
            const int target = group * WIDTH + lane;
            __syncthreads();
            for (int v = t / WIDTH; v < n; v += threads / WIDTH) {
                distance[(long long)v * WIDTH + lane] = v == target ? 0.0 : infinity;
            }
            __syncthreads();
            for (bool any_changed = true; any_changed;) {
                bool changed = false;
                for (int v = t / WIDTH; v < n; v += threads / WIDTH) {
                    const double before = distance[(long long)v * WIDTH + lane];
                    double best = before;
                    for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
                        const double length =
                            (double)arc_length[a] + load_relaxed(&distance[(long long)p.targets[a] * WIDTH + lane]);
                        best = length < best ? length : best;
                    }
                    if (best < before) {
                        store_relaxed(&distance[(long long)v * WIDTH + lane], best);
                        changed = true;
                    }
                }
                any_changed = __syncthreads_or(changed);
            }
            if (target < n) {
                for (int v = t / WIDTH; v < n; v += threads / WIDTH) {
                    const double best = distance[(long long)v * WIDTH + lane];
                    graph_matrix[(long long)v * n + target] = best < infinity ? best : -1.0;
                }
            }
        }
    }
}
