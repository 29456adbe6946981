// Optimization step 6: runs of vertices with one arc in and one out are contracted first, by parallel list ranking.
//
// What it computes   contract: for every vertex its run (the run's first vertex) and its place in the run; for every
//                    run's first vertex the row of its last one, which makes a smaller DAG on the first vertices alone;
//                    the in-degrees stay as they are. unfold: the order of all vertices from the order of the runs.
// Idea               an arc u -> v is a link if it is the only one out of u and the only one into v. Links form lists.
//                    Ranking a list of a million by walking it is a million dependent loads, 0.15 s; so
//                    1. every list's first vertex, and one of `gap` others picked by a hash of its number, is a
//                    splitter;
//                    2. a thread walks from each splitter to the next (on average `gap` steps; the longest of S walks
//                       about gap * ln S) and stores for every vertex its splitter and its distance from it;
//                    3. pointer jumping on splitters: an entry (preceding splitter, distance) is replaced by that
//                       splitter's entry with the sum of the distances, which doubles the distance each time, until the
//                       list's first vertex is reached. An entry is 8 bytes and written by one store, so an older or
//                       newer one is correct: no barrier is needed.
// Why 1-1 runs only  the contracted graph is a DAG, sorted by `narrow`; its layers are not those of the whole graph.
// A pure cycle of links has no first vertex: its vertices are never ready, and are missing from the order.
//
// References: J. C. Wyllie, "The complexity of parallel computations", 1979 (jumping); D. R. Helman, J. JaJa,
//             "Designing practical efficient algorithms for symmetric multiprocessors", ALENEX 1999 (splitters);
//             Z. Wei, J. JaJa, "Optimization of linked list prefix computations on multithreaded GPUs", IPDPS 2010.
#include "device.cuh"
#include "expand.cuh"

__device__ inline bool drawn(int v, int gap) {
    unsigned h = static_cast<unsigned>(v) * 2654435769u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    return h % gap == 0;  // gap: a power of two
}

// next[v]: the vertex that the link out of v leads to, or -1. linked[v]: 1 if a link leads to v. splitters[i]: a
// splitter; number[v]: i. jumps[i]: {splitter before i or i itself, distance}. counts[0]: number of splitters, zero
// before. run[v], place[v]: number of v's splitter (-1: none) and distance from it; at the end, first vertex of its run
// and place. run_first, run_last: bounds of the contracted row; length[v]: vertices in the run; all three of first
// vertices only.
extern "C" __global__ void __launch_bounds__(1024, 1)
    contract(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
             const int* __restrict__ in_degrees, int* next, int* linked, int* splitters, int* number,
             unsigned long long* jumps, int* run, int* place, int* run_first, int* run_last, int* length, int* counts,
             unsigned* barrier, int n, int gap) {
    const int lane = lane_id();
    for (int v = global_thread(); v < n; v += global_threads()) {
        linked[v] = 0;
        run[v] = -1;
        run_first[v] = run_last[v] = 0;  // empty row: vertices inside a run
    }
    grid_barrier(barrier);
    for (int v = global_thread(); v < n; v += global_threads()) {
        const int from = first[v];
        int to = -1;
        if (last[v] - from == 1) {
            to = targets[from];
            if (in_degrees[to] != 1 || to == v) to = -1;
        }
        next[v] = to;
        if (to >= 0) store_relaxed(linked + to, 1);
    }
    grid_barrier(barrier);
    const int rounds = (n + global_threads() - 1) / global_threads();
    for (int round = 0; round < rounds; ++round) {
        const int v = round * global_threads() + global_thread();
        const bool head = v < n && !load_relaxed(linked + v);
        const bool chosen = head || (v < n && drawn(v, gap));
        const unsigned all = __ballot_sync(full_mask, chosen);
        int start = 0;
        if (lane == 0 && all) start = atomicAdd(counts, __popc(all));
        start = __shfl_sync(full_mask, start, 0) + __popc(all & ((1u << lane) - 1));
        if (chosen) {
            splitters[start] = v;
            number[v] = start;
            if (head) store_relaxed(jumps + start, static_cast<unsigned long long>(start) << 32);
        }
    }
    grid_barrier(barrier);
    const int count = load_relaxed(counts);
    for (int i = global_thread(); i < count; i += global_threads()) {
        int v = load_relaxed(splitters + i), steps = 0;
        do {
            run[v] = i;
            place[v] = steps++;
            v = load_relaxed(next + v);
        } while (v >= 0 && !drawn(v, gap));
        if (v >= 0) {
            const unsigned long long jump = static_cast<unsigned long long>(i) << 32 | static_cast<unsigned>(steps);
            store_relaxed(jumps + load_relaxed(number + v), jump);
        }
    }
    grid_barrier(barrier);
    for (int i = global_thread(); i < count; i += global_threads()) {
        unsigned long long jump = load_relaxed(jumps + i);
        for (;;) {
            const unsigned before = jump >> 32;
            const unsigned long long further = load_relaxed(jumps + before);
            if (further >> 32 == before) break;  // `before` is a first vertex
            const unsigned distance = static_cast<unsigned>(jump) + static_cast<unsigned>(further);
            if (distance > static_cast<unsigned>(n)) break;  // a pure cycle: it has no first vertex
            jump = (further >> 32 << 32) | distance;
            store_relaxed(jumps + i, jump);
        }
    }
    grid_barrier(barrier);
    for (int v = global_thread(); v < n; v += global_threads()) {
        const int splitter = load_relaxed(run + v);
        if (splitter < 0) continue;
        const unsigned long long jump = load_relaxed(jumps + splitter);
        const int head = load_relaxed(splitters + (jump >> 32));
        const int where = load_relaxed(place + v) + static_cast<int>(static_cast<unsigned>(jump));
        run[v] = head;
        place[v] = where;
        if (load_relaxed(next + v) < 0) {
            run_first[head] = first[v];
            run_last[head] = last[v];
            length[head] = where + 1;
        }
    }
}

// heads: first vertices of the runs in order, heads_levels[1] of them. starts[v]: where the run of v begins (-1: v not
// in heads). parts: one int a block. placed: number of vertices written. done: if not null, 1 is written there at the
// end.
extern "C" __global__ void __launch_bounds__(1024, 1)
    unfold(const int* heads, const int* heads_levels, const int* length, const int* run, const int* place, int* starts,
           int* parts, int* order, int* placed, unsigned* barrier, unsigned long long* done, int n) {
    DYNAMIC_SHARED(int, shared);
    const int lane = lane_id(), warp = warp_id(), warps = blockDim.x / 32;
    const int count = heads_levels[1];
    for (int v = global_thread(); v < n; v += global_threads()) starts[v] = -1;
    // Each block sums the lengths of its own range of runs, ...
    const long long share = (count + gridDim.x - 1) / gridDim.x;
    const int begin = static_cast<int>(min(static_cast<long long>(count), share * blockIdx.x));
    const int end = static_cast<int>(min(static_cast<long long>(count), share * (blockIdx.x + 1)));
    int mine = 0;
    for (int i = begin + threadIdx.x; i < end; i += blockDim.x) mine += length[heads[i]];
    mine = scan_lanes(mine);
    if (lane == 31) shared[warp] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < warps; ++w) sum += shared[w];
        store_relaxed(parts + blockIdx.x, sum);
    }
    grid_barrier(barrier);
    // ... then all blocks' sums before its own, ...
    int before = 0;
    for (int b = threadIdx.x; b < static_cast<int>(blockIdx.x); b += blockDim.x) before += load_relaxed(parts + b);
    before = scan_lanes(before);
    if (lane == 31) shared[warp] = before;
    __syncthreads();
    int start = 0;
    for (int w = 0; w < warps; ++w) start += shared[w];
    __syncthreads();
    // ... and assigns the places of its range, blockDim.x runs at a time.
    for (int base = begin; base < end; base += blockDim.x) {
        const int i = base + threadIdx.x;
        const int head = i < end ? heads[i] : 0;
        const int own = i < end ? length[head] : 0;
        const int sum = scan_lanes(own);
        if (lane == 31) shared[warp] = sum;
        __syncthreads();
        int place_of_run = start + sum - own, all = 0;
        for (int w = 0; w < warps; ++w) {
            if (w < warp) place_of_run += shared[w];
            all += shared[w];
        }
        if (i < end) starts[head] = place_of_run;
        start += all;
        __syncthreads();
    }
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *placed = start;
    grid_barrier(barrier);
    for (int v = global_thread(); v < n; v += global_threads()) {
        const int head = run[v];
        if (head < 0) continue;
        const int at = load_relaxed(starts + head);
        if (at >= 0) order[at + place[v]] = v;
    }
    if (done && global_thread() == 0) *const_cast<volatile unsigned long long*>(done) = 1;
}
