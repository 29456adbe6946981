// The paper's synchronization schemes for delta-stepping, a check of the result, and a persistent variant.
//
// Single-source shortest paths from `source`, weights >= 0: dist[v] is lowered until no arc (u, v) has
// dist[u] + weight < dist[v]. Delta-stepping (Meyer and Sanders 2003) as the paper simplifies it: no light and heavy
// arcs; a bucket is [low, low + delta), where low is the smallest pending distance (0 at first). A vertex that was
// lowered and has not been relaxed since is "pending"; a round looks at every vertex and relaxes the pending ones
// below the bucket's end. When none of them is pending, the next bucket begins.
//
// Several threads may lower one distance at once. The paper's ways to coordinate them, then two additions of ours:
//   relax_atomic  atomicMin; a launch a round; the host reads back after each whether the bucket is empty.
//   pull          no atomics: every vertex takes the minimum over its incoming arcs, reads the old distances and writes
//                 the new ones elsewhere. One writer a word, so exact; kernel boundaries are the barrier (a launch a
//                 round).
//   pull_rounds   pull's rounds inside one launch, with a grid barrier between them (the paper's: memory fences).
//   semaphores    no atomics and no barrier: a Boolean a block. Racy. See below for our reading of it.
//   check         one pass that finds every vertex with an arc that can still be relaxed: if there is none, the
//                 distances are exact, because each is the length of a path and all satisfy Bellman's equations.
//   persistent    relax_atomic's rounds inside one launch, with a grid barrier between them.
//
// References: B. Wang et al., "A synchronization mechanism between CUDA blocks for GPU", CAAI 2017; U. Meyer, P.
// Sanders, "Delta-stepping: a parallelizable shortest path algorithm", J. Algorithms 49 (2003); fences: S. Xiao, W.
// Feng, "Inter-block GPU communication via fast barrier synchronization", IPDPS 2010.
// compile: DISTANCE=unsigned,double
#include "types.cuh"

// Control words. Three flags rotate, one a round, so that the flag of the round before can still be read, this round's
// set and the next one's cleared without a further barrier.
constexpr int bucket_pending = 0;  // [0..2] some vertex of this bucket is pending
constexpr int overflow = 3;        // a sum would exceed its type
constexpr int stuck = 4;           // more sweeps than allowed
constexpr int work = 5;            // rounds, or the largest number of sweeps of a block
constexpr int failing = 6;         // check: vertices with an arc that can be relaxed; count_semaphores: those on

extern "C" __global__ void begin(int n, int source, DISTANCE* dist, DISTANCE* second, int* active, int* next,
                                 int* control, DISTANCE* lowest) {
    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads()) {
        const Distance d = (int)v == source ? Distance(0) : infinity();
        dist[v] = d;
        if (second) second[v] = d;
        active[v] = (int)v == source;
        next[v] = 0;
    }
    if (global_thread() < 8) control[global_thread()] = 0;
    if (global_thread() < 3) lowest[global_thread()] = infinity();
}

// Smallest distance >= `least` of a pending vertex: where the next bucket begins.
__device__ __forceinline__ void find_lowest(int n, const DISTANCE* dist, const int* active, DISTANCE least,
                                            DISTANCE* lowest) {
    Distance best = infinity();
    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads())
        if (load_relaxed(active + v)) {
            const Distance d = load_relaxed(dist + v);
            best = d >= least && d < best ? d : best;
        }
    best = warp_min(best);
    if (lane_id() == 0 && best < infinity()) lower(lowest, best);
}
extern "C" __global__ void next_bucket(int n, const DISTANCE* dist, const int* active, DISTANCE least,
                                       DISTANCE* lowest) {
    find_lowest(n, dist, active, least, lowest);
}

__device__ __forceinline__ void push_round(const int* offsets, const Arc* arcs, int n, DISTANCE* dist, int* active,
                                           int* next, DISTANCE end, DISTANCE limit, int* control, int round) {
    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads()) {
        if (!load_relaxed(active + v)) continue;
        active[v] = 0;  // the array is the next round's `next`
        const Distance d = load_relaxed(dist + v);
        if (d >= end) {
            store_relaxed(next + v, 1);
            continue;
        }
        if (d > limit) {
            control[overflow] = 1;
            continue;
        }
        for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
            const Arc arc = load_arc(arcs + e);
            const Distance candidate = d + arc.weight;
            if (candidate < load_relaxed(dist + arc.target) && candidate < lower(dist + arc.target, candidate)) {
                store_relaxed(next + arc.target, 1);
                if (candidate < end) store_relaxed(control + bucket_pending + round % 3, 1);
            }
        }
    }
}

extern "C" __global__ void relax_atomic(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n,
                                        DISTANCE* dist, int* active, int* next, DISTANCE end, DISTANCE limit,
                                        int* control, DISTANCE* lowest, int round) {
    if (global_thread() == 0) {
        control[bucket_pending + (round + 1) % 3] = 0;
        lowest[0] = infinity();
    }
    push_round(offsets, arcs, n, dist, active, next, end, limit, control, round);
}

extern "C" __global__ void persistent(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n,
                                      DISTANCE* dist, int* active, int* next, DISTANCE delta, DISTANCE limit,
                                      int* control, DISTANCE* lowest, unsigned* barrier) {
    Distance end = sum(0, delta);
    int round = 0;
    for (int bucket = 0;; ++bucket) {
        for (bool more = true; more; ++round) {
            if (global_thread() == 0) store_relaxed(control + bucket_pending + (round + 1) % 3, 0);
            push_round(offsets, arcs, n, dist, active, next, end, limit, control, round);
            grid_barrier(barrier);
            more = load_relaxed(control + bucket_pending + round % 3);
            int* const swap = active;
            active = next, next = swap;
        }
        if (global_thread() == 0) store_relaxed(lowest + (bucket + 1) % 3, infinity());
        find_lowest(n, dist, active, 0, lowest + bucket % 3);
        grid_barrier(barrier);
        const Distance low = load_relaxed(lowest + bucket % 3);
        if (low >= infinity()) break;
        end = sum(low, delta);
    }
    if (global_thread() == 0) control[work] = round;
}

// One round without atomics: vertex v reads the old distances over its incoming arcs (offsets, arcs: of the reversed
// graph, so arc.target is the predecessor) and alone writes its new one.
__device__ __forceinline__ void pull_round(const int* offsets, const Arc* arcs, int n, const DISTANCE* old,
                                           DISTANCE* fresh, const int* active, int* next, DISTANCE end, DISTANCE limit,
                                           int* control, int round) {
    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads()) {
        const Distance before = load_relaxed(old + v);
        Distance best = before;
        for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
            const Arc arc = load_arc(arcs + e);
            if (!load_relaxed(active + arc.target)) continue;
            const Distance d = load_relaxed(old + arc.target);
            if (d >= end) continue;
            if (d > limit) {
                control[overflow] = 1;
                continue;
            }
            best = d + arc.weight < best ? d + arc.weight : best;
        }
        fresh[v] = best;
        const bool lowered = best < before;
        next[v] = lowered || (load_relaxed(active + v) && before >= end);
        if (lowered && best < end) store_relaxed(control + bucket_pending + round % 3, 1);
    }
}

extern "C" __global__ void pull(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n,
                                const DISTANCE* old, DISTANCE* fresh, const int* active, int* next, DISTANCE end,
                                DISTANCE limit, int* control, DISTANCE* lowest, int round) {
    if (global_thread() == 0) {
        control[bucket_pending + (round + 1) % 3] = 0;
        lowest[0] = infinity();
    }
    pull_round(offsets, arcs, n, old, fresh, active, next, end, limit, control, round);
}

extern "C" __global__ void pull_rounds(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n,
                                       DISTANCE* old, DISTANCE* fresh, int* active, int* next, DISTANCE delta,
                                       DISTANCE limit, int* control, DISTANCE* lowest, unsigned* barrier) {
    Distance end = sum(0, delta);
    int round = 0;
    for (int bucket = 0;; ++bucket) {
        for (bool more = true; more; ++round) {
            if (global_thread() == 0) store_relaxed(control + bucket_pending + (round + 1) % 3, 0);
            pull_round(offsets, arcs, n, old, fresh, active, next, end, limit, control, round);
            grid_barrier(barrier);
            more = load_relaxed(control + bucket_pending + round % 3);
            DISTANCE* const swap = old;
            old = fresh, fresh = swap;
            int* const other = active;
            active = next, next = other;
        }
        if (global_thread() == 0) store_relaxed(lowest + (bucket + 1) % 3, infinity());
        find_lowest(n, old, active, 0, lowest + bucket % 3);
        grid_barrier(barrier);
        const Distance low = load_relaxed(lowest + bucket % 3);
        if (low >= infinity()) break;
        end = sum(low, delta);
    }
    if (global_thread() == 0) control[work] = round;  // its parity says which of the two arrays holds the result
}

// Semaphores in layers, as we read the paper (its Figure III, the flow chart, is lost in the text that we have):
//
// 1. "We define a set [of] semaphores of Boolean type, modified[], whose length is the same with blocks": a block owns
//    a contiguous range of vertices; a thread of another block that lowers a distance in b's range to below the
//    bucket's end sets modified[b].
// 2. "Each kernel launched, it should be computed enough on GPU": all blocks are resident and iterate inside one launch
//    (one launch a bucket). No grid barrier: each block goes at its own pace.
// 3. A block whose semaphore is on sweeps its range: each pending vertex below the bucket's end is relaxed by plain
//    reads and writes: read dist[w]; if the candidate is smaller, write it. Two blocks can both read the old value, and
//    the larger candidate can be written last: a LOST UPDATE. The vertex that had the better candidate is no longer
//    pending, so no thread tries that arc again.
// 4. It sweeps again while its own vertices lower each other; then it turns its semaphore off. "Because modified[] is
//    stored in global memory, it can be modified by all the blocks. Writing error might occur": another block may have
//    set it during the last sweep, for a vertex the sweep had already passed. A LOST SIGNAL: that vertex stays pending
//    ("several nodes still need further calculation") until another change turns its semaphore on.
// 5. A block whose semaphore is off counts the semaphores that are on. At most p of them: it closes the layer, for all.
//    The count is no snapshot: a semaphore already counted may be set while others are read, and the layer is closed
//    TOO EARLY. So a block closes the layer only after `confirmations` consecutive such counts. With 1 a single
//    moving signal (the start of every run) is missed at once, and almost no vertex is relaxed.
// 6. "In order to reduce this mistake, it can increase the layer number of semaphore, and every layer is independence",
//    "p1 > p2 > ... >= 0": every layer has its own array and its own threshold, the last one 0. A layer begins with all
//    its semaphores on, so that all blocks but p sweep at least once; in the last layer, all.
// 7. What does that first sweep of a later layer relax? Ours (sweep_all = 1): every reached vertex below the bucket's
//    end, for the layer does not depend on what the previous layer marked; it repairs lost signals, and lost updates
//    too unless the same race is lost again. The other reading (sweep_all = 0): the pending vertices only; it repairs
//    lost signals, never a lost update. Both are measured. (sweep_all = 2: the first layer sweeps all of them as well.)
// The other reading that is measured: no decision inside the launch. A block leaves when its own semaphore is off, and
// the host launches again while more than p semaphores are on (confirmations = 0; the host's loop in paper.py).
// Also tried and rejected. Turning the semaphore off after every sweep loses a block's signals to itself, and most
// vertices stay unrelaxed. Turning it off before the sweep loses no signal, but while the only active block has its
// semaphore off, all other blocks count none and leave. The paper's authors would have noticed either.
// A layer's array: a semaphore for each block, then one word that says whether the layer is closed.
extern "C" __global__ void raise_semaphores(int blocks, int layers, int* modified) {
    for (int i = (int)global_thread(); i < layers * (blocks + 1); i += (int)global_threads())
        modified[i] = i % (blocks + 1) < blocks;
}

extern "C" __global__ void semaphores(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n,
                                      DISTANCE* dist, int* pending, int* modified, const int* thresholds, int layers,
                                      int sweep_all, DISTANCE end, DISTANCE limit, int confirmations, int most_sweeps,
                                      int* control) {
    const int range = (n + (int)gridDim.x - 1) / (int)gridDim.x;
    const int first = min((int)blockIdx.x * range, n), last = min(first + range, n);
    int sweeps = 0;
    for (int layer = 0; layer < layers; ++layer) {
        int* const semaphore = modified + layer * ((int)gridDim.x + 1);
        int* const closed = semaphore + gridDim.x;
        bool all_vertices = sweep_all > 1 || (layer > 0 && sweep_all);
        int quiet_counts = 0;
        while (!__syncthreads_or(threadIdx.x == 0 && load_acquire(closed))) {
            if (__syncthreads_or(threadIdx.x == 0 && load_relaxed(semaphore + blockIdx.x))) {
                bool own_lowered = false;
                for (int v = first + (int)threadIdx.x; v < last; v += (int)blockDim.x) {
                    if (!all_vertices && !load_relaxed(pending + v)) continue;
                    if (load_relaxed(dist + v) >= end) continue;
                    store_relaxed(pending + v, 0);  // before the distance is read: a later lowering sets it again
                    const Distance d = load_relaxed(dist + v);
                    if (d > limit) {
                        control[overflow] = 1;
                        continue;
                    }
                    for (int e = offsets[v]; e < offsets[v + 1]; ++e) {
                        const Arc arc = load_arc(arcs + e);
                        const Distance candidate = d + arc.weight;
                        if (candidate < load_relaxed(dist + arc.target)) {
                            store_relaxed(dist + arc.target, candidate);  // the racy write
                            store_relaxed(pending + arc.target, 1);
                            if (candidate >= end) continue;
                            if (arc.target >= first && arc.target < last) own_lowered = true;
                            else store_relaxed(semaphore + arc.target / range, 1);
                        }
                    }
                }
                all_vertices = false;
                quiet_counts = 0;
                if (!__syncthreads_or(own_lowered) && threadIdx.x == 0) store_relaxed(semaphore + blockIdx.x, 0);
                if (++sweeps > most_sweeps) {
                    control[stuck] = 1;
                    store_relaxed(closed, 1);
                }
            } else if (confirmations == 0) {
                break;
            } else {
                int on = 0;
                for (int base = 0; base < (int)gridDim.x; base += (int)blockDim.x) {
                    const int i = base + (int)threadIdx.x;
                    on += __syncthreads_count(i < (int)gridDim.x && load_relaxed(semaphore + i) != 0);
                }
                quiet_counts = on <= thresholds[layer] ? quiet_counts + 1 : 0;
                if (quiet_counts == confirmations) store_relaxed(closed, 1);
                else pause(200);
            }
        }
    }
    if (threadIdx.x == 0) atomicMax(control + work, sweeps);
}

// How many semaphores of a layer are on, for the host.
extern "C" __global__ void count_semaphores(int blocks, const int* modified, int* control) {
    int on = 0;
    for (int i = (int)threadIdx.x; i < blocks; i += (int)blockDim.x) on += modified[i] != 0;
    atomicAdd(control + failing, on);
}

// Marks as pending every vertex from which an arc can still be relaxed, and counts them.
extern "C" __global__ void check(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n,
                                 const DISTANCE* dist, int* pending, int* control) {
    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads()) {
        const Distance d = load_relaxed(dist + v);
        bool can_relax = false;
        if (d < infinity())
            for (int e = offsets[v]; e < offsets[v + 1] && !can_relax; ++e) {
                const Arc arc = load_arc(arcs + e);
                can_relax = d + arc.weight < load_relaxed(dist + arc.target);
            }
        if (can_relax) {
            pending[v] = 1;
            atomicAdd(control + failing, 1);
        }
    }
}
