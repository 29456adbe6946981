// Transposes every graph of a pack: row v of the result lists the sources of the arcs into v, in ascending order.
//
// A warp takes a graph and goes through its rows in order, 32 arcs at a time; the arcs of one row go to different
// places or are the same arc, so the order of the result is that of the rows.
//
// compile: ARCS32=0,1
#include "pack.cuh"

// in_offsets: zero before. cursor: a word for each vertex. weights and in_weights: null for graphs without.
extern "C" __global__ void turn(const long long* __restrict__ vertex_start, const long long* __restrict__ arc_start,
                                int graphs, const int* __restrict__ offsets, const Arc* __restrict__ targets,
                                const float* __restrict__ weights, int* in_offsets, Arc* in_targets, float* in_weights,
                                int* cursor) {
    const int lane = lane_id();
    for (int graph = global_thread() >> 5; graph < graphs; graph += global_threads() >> 5) {
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        int* const begin = in_offsets + p.vertex + graph;
        int* const next_slot = cursor + p.vertex;
        for (int a = lane; a < p.m; a += 32) atomicAdd(&begin[p.targets[a] + 1], 1);
        __syncwarp();
        int prefix = 0;
        for (int base = 0; base < p.n; base += 32) {
            const int v = base + lane;
            int sum = v < p.n ? load_relaxed(&begin[v + 1]) : 0;
            const int degree = sum;
            for (int o = 1; o < 32; o <<= 1) {
                const int other = __shfl_up_sync(full_mask, sum, o);
                if (lane >= o) sum += other;
            }
            if (v < p.n) {
                begin[v + 1] = prefix + sum;
                next_slot[v] = prefix + sum - degree;
            }
            prefix += __shfl_sync(full_mask, sum, 31);
        }
        __syncwarp();
        for (int v = 0; v < p.n; ++v) {
            for (int a = p.offsets[v] + lane; a < p.offsets[v + 1]; a += 32) {
                const int slot = atomicAdd(&next_slot[p.targets[a]], 1);
                in_targets[p.arc + slot] = (Arc)v;
                if (weights != nullptr) in_weights[p.arc + slot] = weights[p.arc + a];
            }
            __syncwarp();
        }
    }
}
