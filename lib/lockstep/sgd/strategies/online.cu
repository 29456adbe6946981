// Online schedules: no preprocessing; locks detect at run time whether two edges conflict. A group of LANES threads
// updates an edge.
//
//   edge_locked   a group takes an edge and tries the locks of its item and its user; if it gets one or none, the edge
//                 is appended to the next pass's list. Passes follow until that list is empty.
//   node_locked   a group owns an item, whose vector it keeps in shared memory, so that the user's lock alone is
//                 needed. It goes through the item's edges, skips those marked as done, and leaves those whose user is
//                 locked to the next pass.
//   unmarked      the edges that node_locked left over, as a list for edge_locked: the hybrid of both.
//   hogwild       no locks: common practice, and the baseline. Concurrent updates of a vector may be lost, so the
//                 result differs from run to run.
//
// All lanes of a warp do the three phases try, update and unlock together, with warp barriers between them, as the
// published code does on a machine whose warps run in lockstep: of two edges of a warp that conflict one is deferred.
// No thread waits for a lock: a failed try defers the edge and releases a lock already held. So there is no deadlock;
// holders wait only at warp barriers, which all lanes reach. Passes end: the user's lock is tried last, so the group
// that takes it has both, and the first try of any user's lock succeeds: each pass applies an edge.
// A group that has the item's lock and not the user's fences before it gives the item's back: the store ends the
// release sequence of whoever held the lock before, and the fence makes it a release of what that holder wrote.
// With LANES=1 there is an even number of warp operations between two tries of a thread. On the emulator's warp of two
// threads each swaps the order, so thread 0 tries first every time, as in the published figures (paper_example.py).
// Parameters: decay = 1 - rate * regularization; with LOG, *_clock: updates of a node so far, *_rank: an edge's rank
// among its node's updates; applied: number and checksum of the edges that were applied. Locks are 0 before.
// Reference: R. Kaleem, A. Venkat, S. Pai, M. Hall, K. Pingali, "Synchronization trade-offs in GPU implementations of
// graph algorithms", IPDPS 2016, Section IV.
// compile: K=16 LANES=1
// compile: K=16 LANES=4 HALF=0,1
// compile: K=16 LANES=4 LOCK_DELAY=100,1000,10000
// compile: K=16 LANES=4 BARRIER_DELAY=1000,10000,100000
// compile: K=32 LANES=8 HALF=0,1
// compile: K=64 LANES=16 HALF=0,1
// compile: K=16 LANES=4 LOG=1
#include "update.cuh"

// One pass over `count` edges: those that `work` lists, or all if it is null. next_count must be zero.
extern "C" __global__ void edge_locked(const int* work, int count, int* next, int* next_count, const int* users,
                                       const int* items, const float* values, int* user_locks, int* item_locks,
                                       Stored* user_vectors, Stored* item_vectors, float rate, float decay,
                                       int* user_clock, int* item_clock, int* user_rank, int* item_rank,
                                       unsigned long long* applied) {
    const int group = global_thread() / LANES, groups = global_threads() / LANES;
    const int warp_first = group - (int)(lane_id() / LANES);
    Tally tally;
    for (int base = 0; base + warp_first < count; base += groups) {  // the whole warp stays in the loop together
        const bool has_edge = base + group < count;
        const int e = !has_edge ? 0 : work ? work[base + group] : base + group;
        const int u = users[e], i = items[e];
        int both = 0;
        if (has_edge && lane_in_group() == 0) {
            if (try_lock(item_locks + i)) {
                both = try_lock(user_locks + u);
                fence_gpu();
                if (!both) unlock(item_locks + i);
            }
            trace_event(both ? 0 : 1, e, base);
        }
        both = from_first(both);
        __syncwarp();
        if (both) {
            Vector user = load(user_vectors, u), item = load(item_vectors, i);
            step(user, item, values[e], rate, decay, group_mask());
            store(user_vectors, u, user);
            store(item_vectors, i, item);
            log_update(e, u, i, user_clock, item_clock, user_rank, item_rank);
        }
        __syncwarp();
        if (lane_in_group() == 0 && both) {
            fence_gpu();
            unlock(user_locks + u);
            unlock(item_locks + i);
            tally.add(e);
        }
        const bool defer = has_edge && lane_in_group() == 0 && !both;
        const unsigned deferred = __ballot_sync(full_mask, defer);
        const int place = reserve(next_count, deferred);
        if (defer) next[place + rank_in(deferred)] = e;
    }
    tally.report(applied);
}

// One pass over the items first <= w < last. The edges of item w are offsets[w] <= e < offsets[w + 1];
// done[e] marks those that were applied. `left` counts what this pass left over. In a pass only the group that owns
// item w accesses done[e], the item's vector and its clock; the launch boundary orders passes.
extern "C" __global__ void node_locked(int first, int last, const int* offsets, const int* users, const float* values,
                                       unsigned char* done, int* left, int* user_locks, Stored* user_vectors,
                                       Stored* item_vectors, float rate, float decay, int* user_clock, int* item_clock,
                                       int* user_rank, int* item_rank, unsigned long long* applied) {
    DYNAMIC_SHARED(float, shared);
    const int group = global_thread() / LANES, groups = global_threads() / LANES;
    const int warp_first = group - (int)(lane_id() / LANES), mine = block_thread() / LANES;
    int deferred = 0;
    Tally tally;
    for (int base = first; base + warp_first < last; base += groups) {
        const int node = base + group;
        const bool owner = node < last;
        int e = owner ? offsets[node] : 0;
        const int end = owner ? offsets[node + 1] : 0;
        bool fresh = true;  // the item's vector is not in shared memory yet
        const int longest = __reduce_max_sync(full_mask, end - e);
        __syncwarp();
        for (int turn = 0; turn < longest; ++turn) {
            const bool has_edge = e < end && !done[e < end ? e : 0];
            const int u = has_edge ? users[e] : 0;
            int locked = 0;
            if (has_edge && lane_in_group() == 0) {
                locked = try_lock(user_locks + u);
                if (locked) fence_gpu();
                trace_event(locked ? 0 : 1, e, base);
            }
            locked = from_first(locked);
            __syncwarp();
            if (locked) {
                if (fresh) store_shared(shared, mine, load(item_vectors, node));
                fresh = false;
                Vector user = load(user_vectors, u), item = load_shared(shared, mine);
                step(user, item, values[e], rate, decay, group_mask());
                store(user_vectors, u, user);
                store_shared(shared, mine, item);
                log_update(e, u, node, user_clock, item_clock, user_rank, item_rank);
            }
            __syncwarp();
            if (lane_in_group() == 0 && has_edge) {
                if (locked) {
                    fence_gpu();
                    unlock(user_locks + u);
                    done[e] = 1;
                    tally.add(e);
                } else {
                    ++deferred;
                }
            }
            ++e;
        }
        if (!fresh) store(item_vectors, node, load_shared(shared, mine));
    }
    deferred = warp_sum(deferred);
    if (lane_id() == 0 && deferred) atomicAdd(left, deferred);
    tally.report(applied);
}

// The edges that are not marked, as a list; `length` must be zero. One thread an edge.
extern "C" __global__ void unmarked(int count, const unsigned char* done, int* list, int* length) {
    for (int base = 0; base < count; base += global_threads()) {
        const int e = base + (int)global_thread();
        const bool open = e < count && !done[e];
        const unsigned votes = __ballot_sync(full_mask, open);
        int place = 0;
        if (votes && (int)lane_id() == __ffs(votes) - 1) place = atomicAdd(length, __popc(votes));
        place = __shfl_sync(full_mask, place, votes ? __ffs(votes) - 1 : 0);
        if (open) list[place + __popc(votes & ((1u << lane_id()) - 1u))] = e;
    }
}

// All edges once, in any order and without locks; updates may be lost, by design.
extern "C" __global__ void hogwild(int count, const int* users, const int* items, const float* values,
                                   Stored* user_vectors, Stored* item_vectors, float rate, float decay,
                                   unsigned long long* applied) {
    const int group = global_thread() / LANES, groups = global_threads() / LANES;
    Tally tally;
    for (int e = group; e < count; e += groups) {
        const int u = users[e], i = items[e];
        Vector user = load(user_vectors, u), item = load(item_vectors, i);
        step(user, item, values[e], rate, decay, group_mask());
        store(user_vectors, u, user);
        store(item_vectors, i, item);
        if (lane_in_group() == 0) tally.add(e);
    }
    tally.report(applied);
}
