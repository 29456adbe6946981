// All passes of the edge-locked schedule inside one cooperative launch, without the host between them.
//
// A pass is the published one (edge_locked of online.cu): a group takes an edge, tries the locks of both ends, and
// defers the edge to the next pass if it gets only one or none. Deferred edges go to two alternating lists, whose
// lengths stay on the device; a grid barrier separates passes.
//
// The number of groups in a pass is the geometric mean of their number in the previous pass and of the edges applied
// there. Where all edges want one hub's lock, most tries fail, so fewer groups process more edges each: a group's later
// try may succeed in the pass in which its first one failed. Without conflicts all groups work. Idle blocks wait at the
// barrier.
// No thread waits for a lock, and a warp executes the three phases together, as in online.cu.
// compile: K=16 LANES=1
// compile: K=16 LANES=4 HALF=0,1
// compile: K=16 LANES=4 LOCK_DELAY=100,1000,10000
// compile: K=16 LANES=4 BARRIER_DELAY=1000,10000,100000
// compile: K=32 LANES=8
// compile: K=64 LANES=16
// compile: K=16 LANES=4 LOG=1
#include "update.cuh"

// One pass of `workers` groups over `count` edges: those that `work` lists, or all if it is null.
__device__ __forceinline__ void edge_pass(const int* work, int count, int workers, int* next, int* next_count,
                                          const int* users, const int* items, const float* values, int* user_locks,
                                          int* item_locks, Stored* user_vectors, Stored* item_vectors, float rate,
                                          float decay, int* user_clock, int* item_clock, int* user_rank, int* item_rank,
                                          Tally& tally) {
    const int worker = global_thread() / LANES, warp_first = worker - (int)(lane_id() / LANES);
    for (int base = 0; base + warp_first < count; base += workers) {  // the whole warp stays in the loop together
        const bool some = base + worker < count;
        const int e = !some ? 0 : work ? __ldcg(work + base + worker) : base + worker;
        const int u = users[e], i = items[e];
        const float rating = values[e];   // before the locks: keeps its latency out of the critical section
        int both = 0;
        if (some && lane_in_group() == 0) {
            both = try_lock(item_locks + i);
            if (both && !try_lock(user_locks + u)) {
                fence_gpu();   // the last holder's writes come before the next holder's reads
                store_relaxed(item_locks + i, 0);
                both = 0;
            }
            if (both) fence_gpu();
        }
        both = from_first(both);
        __syncwarp();
        if (both) {
            Vector user = load(user_vectors, u), item = load(item_vectors, i);
            step(user, item, rating, rate, decay, group_mask());
            store(user_vectors, u, user);
            store(item_vectors, i, item);
            log_update(e, u, i, user_clock, item_clock, user_rank, item_rank);
        }
        __syncwarp();
        if (lane_in_group() == 0 && both) {
            fence_gpu();   // once for both locks
            store_relaxed(item_locks + i, 0);
            store_relaxed(user_locks + u, 0);
            tally.add(e);
        }
        const bool defer = some && lane_in_group() == 0 && !both;
        const unsigned deferred = __ballot_sync(full_mask, defer);
        const int place = reserve(next_count, deferred);
        if (defer) next[place + rank_in(deferred)] = e;
    }
}

// All passes over the edges that `first` lists, or over all if it is null; *first_count says how many. `odd` is filled
// by the first pass, the third, and so on, so it is not `first`; `even` may be. lengths, zero at the beginning: list
// lengths in rotation, of which a pass reads one, counts in the next, and clears the third.
extern "C" __global__ void edge_passes(const int* first, const int* first_count, int* odd, int* even, int* lengths,
                                       int* passes, unsigned* barrier, const int* users, const int* items,
                                       const float* values, int* user_locks, int* item_locks, Stored* user_vectors,
                                       Stored* item_vectors, float rate, float decay, int* user_clock, int* item_clock,
                                       int* user_rank, int* item_rank, unsigned long long* applied) {
    const int groups = blockDim.x / LANES;   // of a block
    const int* work = first;
    int count = *first_count, blocks = gridDim.x, pass = 0;
    Tally tally;
    while (count) {
        int *next = pass % 2 ? even : odd, *length = lengths + pass % 3;
        if ((int)blockIdx.x < blocks)
            edge_pass(work, count, blocks * groups, next, length, users, items, values, user_locks, item_locks,
                      user_vectors, item_vectors, rate, decay, user_clock, item_clock, user_rank, item_rank, tally);
        if (global_thread() == 0) store_relaxed(lengths + (pass + 1) % 3, 0);   // all have read it, a barrier ago
        delayed_barrier(barrier);
        const int left = load_relaxed(length);
        const float wanted = ceilf(sqrtf((float)blocks * (float)(count - left) / (float)groups));
        blocks = max(1, min((int)gridDim.x, (int)wanted));
        count = left;
        work = next;
        ++pass;
    }
    if (global_thread() == 0) *passes = pass;
    tally.report(applied);
}
