// PageRank of many small graphs: a block for each, rows and ranks in shared memory (HOLDS=0: in global).
//
// rank'[v] = damping * (sum over arcs u -> v of rank[u] / out_degree[u] + dangling / n) + (1 - damping) / n, where
// `dangling` is the rank of all vertices without out-arcs; until the ranks change by less than n * tolerance in all
// (NetworkX's criterion). A vertex sums its row in order; sums over the whole graph (dangling, moved) are in fixed
// point. So the bits do not depend on the number of threads.
//
// compile:
// compile: HOLDS=0 WIDE=1
#include "pack.cuh"

#define UNIT 1152921504606846976.0  // 2^60

// rounds[graph]: number of steps, `limit` at most. checksums: zero before.
extern "C" __global__ void __launch_bounds__(1024, 1) pagerank(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    const int* __restrict__ in_offsets, const Arc* __restrict__ in_targets, int directed, double damping,
    double tolerance, int limit, unsigned char* scratch, long long stride, double* out, int* rounds, u64* checksums) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int threads = blockDim.x, t = block_thread();
    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        const int n = p.n;
        BumpAllocator state{HOLDS == 0 ? scratch + (long long)blockIdx.x * stride : shared + 16};
        u64* const totals = state.allocate<u64>(4);      // dangling and moved, of even and of odd steps
        double* const rank = state.allocate<double>(n);
        double* const share = state.allocate<double>(n + 1);
        int* const out_degree = state.allocate<int>(n);
        const Rows out_rows = carve_rows(state, n, p.m);
        const Rows in = directed ? carve_rows(state, n, p.m) : out_rows;
        bool unsorted = copy_rows(out_rows, p.offsets, p.targets, n, threads);
        if (directed) unsorted |= copy_rows(in, in_offsets + p.vertex + graph, in_targets + p.arc, n, threads);
        if (__syncthreads_or(unsorted)) {
            remove_duplicates(out_rows, n, threads);
            if (directed) remove_duplicates(in, n, threads);
        }
        if (t < 4) totals[t] = 0;
        if (t == 0) share[n] = 0;
        __syncthreads();
        for (int v = t; v < n; v += threads) {
            const Id* const row = (const Id*)(out_rows.quads + first_quad(out_rows.rows[v]));
            int degree = 0;
            for (int i = 0; i < (int)(4 * quads_of(out_rows.rows[v])); ++i) degree += row[i] != (Id)n;
            out_degree[v] = degree;
            rank[v] = 1.0 / n;
        }
        int step = 0;
        for (bool moving = true; moving && step < limit; ++step) {
            u64* const sums = totals + 2 * (step & 1);
            u64* const old_sums = totals + 2 * (~step & 1);
            u64 dangling = 0;
            for (int v = t; v < n; v += threads) {
                if (out_degree[v]) share[v] = rank[v] / out_degree[v];
                else {
                    share[v] = 0;
                    dangling += (u64)(rank[v] * UNIT);
                }
            }
            if (dangling) atomicAdd(&sums[0], dangling);
            __syncthreads();
            if (t < 2) old_sums[t] = 0;              // of the step before; all threads have read it
            const double dangling_share = (double)sums[0] / UNIT / n, teleport = (1.0 - damping) / n;
            u64 moved = 0;
            for (int v = t; v < n; v += threads) {
                const Id* const row = (const Id*)(in.quads + first_quad(in.rows[v]));
                double sum = 0;
                for (int i = 0; i < (int)(4 * quads_of(in.rows[v])); ++i) sum += share[row[i]];
                const double new_rank = __dadd_rn(__dmul_rn(damping, __dadd_rn(sum, dangling_share)), teleport);
                const double change = new_rank - rank[v];
                moved += (u64)((change < 0 ? -change : change) * UNIT);
                rank[v] = new_rank;
            }
            if (moved) atomicAdd(&sums[1], moved);
            __syncthreads();
            moving = (double)sums[1] / UNIT >= n * tolerance;
        }
        u64 check = 0;
        for (int v = t; v < n; v += threads) {
            out[p.vertex + v] = rank[v];
            check += checksum_term(v, (u64)__double_as_longlong(rank[v]));
        }
        if (check) atomicAdd(&checksums[graph], check);
        if (t == 0) rounds[graph] = step;
    }
}
