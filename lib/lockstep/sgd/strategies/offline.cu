// Offline schedules: precomputed conflict-free sets of edges, separated by barriers.
//
// Idea. Two edges conflict if they share a node. Preprocessing cuts the edges into matchings (no two edges of one share
// a node): a matching needs no locks, but a barrier of the whole GPU before the next one. A node of degree d takes part
// in d matchings, so the largest degree times (one update + one barrier) is a lower bound on the time of all of these.
//
//   matchings    edges of a matching spread over all groups: AGM-E, and both diagonal schedules (a diagonal of the
//                matrix is a matching; a diagonal of blocks is one whose "edges" are blocks, each run by one group)
//   node_blocks  an item belongs to one group, which keeps its vector in shared memory: AGM-N and SGM
//
// Both are cooperative launches with the barrier inside the kernel, as in the published codes.
// Reference: Kaleem et al., IPDPS 2016, Section III (see online.cu).
// compile: K=16 LANES=1,4
// compile: K=16 LANES=4 BARRIER_DELAY=1000,10000,100000
// compile: K=16 LANES=4 LOCK_DELAY=100,1000,10000
// compile: K=32 LANES=8
// compile: K=64 LANES=16
// compile: K=16 LANES=4 LOG=1
#include "update.cuh"

// Unit `t` (an edge, or a block of edges) of superstep s lies in steps[s] <= t < steps[s + 1]; its edges are
// units[t] <= e < units[t + 1], or e = t alone where units is null.
extern "C" __global__ void matchings(const int* steps, int first, int last, const int* units, const int* users,
                                     const int* items, const float* values, float* user_vectors, float* item_vectors,
                                     float rate, float decay, unsigned* barrier, int* user_clock, int* item_clock,
                                     int* user_rank, int* item_rank, unsigned long long* applied) {
    const int worker = global_thread() / LANES, workers = global_threads() / LANES;
    Tally tally;
    for (int s = first; s < last; ++s) {
        for (int t = steps[s] + worker; t < steps[s + 1]; t += workers) {
            const int begin = units ? units[t] : t, end = units ? units[t + 1] : t + 1;
            int held = -1;
            Vector item;
            for (int e = begin; e < end; ++e) {
                const int u = users[e], i = items[e];
                if (i != held) {  // edges of a block are sorted by item: its vector stays in registers
                    if (held >= 0) store(item_vectors, held, item);
                    item = load(item_vectors, i);
                    held = i;
                }
                Vector user = load(user_vectors, u);
                step(user, item, values[e], rate, decay, group_mask());
                store(user_vectors, u, user);
                log_update(e, u, i, user_clock, item_clock, user_rank, item_rank);
                if (lane_in_group() == 0) {
                    tally.add(e);
                    trace_event(0, e, s);
                }
            }
            if (held >= 0) store(item_vectors, held, item);
        }
        if (s + 1 < last) delayed_barrier(barrier);
    }
    tally.report(applied);
}

// Group w of the grid owns item nodes[first + w]; its edges, sorted by matching, are offsets[first + w] <= e <
// offsets[first + w + 1], and times[e] is the superstep in which e is due. The item's vector stays in shared memory for
// the whole block column.
extern "C" __global__ void node_blocks(const int* nodes, const int* offsets, int first, int count, int rounds,
                                       const int* times, const int* users, const float* values, float* user_vectors,
                                       float* item_vectors, float rate, float decay, unsigned* barrier, int* user_clock,
                                       int* item_clock, int* user_rank, int* item_rank, unsigned long long* applied) {
    DYNAMIC_SHARED(float, shared);
    const int worker = global_thread() / LANES, mine = block_thread() / LANES;
    const bool owner = worker < count;
    const int node = owner ? nodes[first + worker] : -1;
    int e = owner ? offsets[first + worker] : 0;
    const int end = owner ? offsets[first + worker + 1] : 0;
    if (owner) {
        const Vector item = load(item_vectors, node);
        store_shared(shared, mine, item);
    }
    Tally tally;
    for (int s = 0; s < rounds; ++s) {
        if (e < end && times[e] == s) {
            const int u = users[e];
            Vector user = load(user_vectors, u), item = load_shared(shared, mine);
            step(user, item, values[e], rate, decay, group_mask());
            store(user_vectors, u, user);
            store_shared(shared, mine, item);
            log_update(e, u, node, user_clock, item_clock, user_rank, item_rank);
            if (lane_in_group() == 0) {
                tally.add(e);
                trace_event(0, e, s);
            }
            ++e;
        }
        if (s + 1 < rounds) delayed_barrier(barrier);
    }
    if (owner) {
        const Vector item = load_shared(shared, mine);
        store(item_vectors, node, item);
    }
    tally.report(applied);
}
