// Offline schedules: conflict-free sets of edges found beforehand, a barrier between one and the next.
//
// Idea. Two edges conflict if they share a node. Preprocessing cuts the edges into matchings (no two edges of
// one share a node), so that a matching needs no locks at all; what it needs is a barrier of the whole GPU
// before the next. A node of degree d takes part in d matchings: the largest degree times (one update + one
// barrier) is the floor of all of these.
//
//   matchings    edges of a matching spread over all groups: AGM-E, and both diagonal schedules (a diagonal
//   of the
//                matrix is a matching; a diagonal of blocks is one whose "edges" are blocks, each run by one
//                group)
//   node_blocks  an item belongs to one group, which keeps its vector in shared memory: AGM-N and SGM
//
// Both are cooperative launches: the barrier waits inside the kernel, as the published codes do.
// Reference: the first paper of this compendium, Section III.
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
                                     float rate, float keep, unsigned* barrier, int* user_clock, int* item_clock,
                                     int* user_turn, int* item_turn, unsigned long long* applied) {
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
                step(user, item, values[e], rate, keep, group());
                store(user_vectors, u, user);
                log_update(e, u, i, user_clock, item_clock, user_turn, item_turn);
                if (part() == 0) {
                    tally.add(e);
                    trace_event(0, e, s);
                }
            }
            if (held >= 0) store(item_vectors, held, item);
        }
        if (s + 1 < last) superstep(barrier);
    }
    tally.report(applied);
}

// Group w of the grid owns items nodes[first + w]; its edges, sorted by matching, are starts[first + w] <= e
// < starts[first + w + 1], and times[e] is the superstep in which e is due. Vectors of the items live in
// shared memory from the begin of the block column to its end.
extern "C" __global__ void node_blocks(const int* nodes, const int* starts, int first, int count, int rounds,
                                       const int* times, const int* users, const float* values, float* user_vectors,
                                       float* item_vectors, float rate, float keep, unsigned* barrier, int* user_clock,
                                       int* item_clock, int* user_turn, int* item_turn, unsigned long long* applied) {
    DYNAMIC_SHARED(float, shared);
    const int worker = global_thread() / LANES, mine = block_thread() / LANES;
    const bool owner = worker < count;
    const int node = owner ? nodes[first + worker] : -1;
    int e = owner ? starts[first + worker] : 0;
    const int end = owner ? starts[first + worker + 1] : 0;
    if (owner) {
        const Vector item = load(item_vectors, node);
        store_shared(shared, mine, item);
    }
    Tally tally;
    for (int s = 0; s < rounds; ++s) {
        if (e < end && times[e] == s) {
            const int u = users[e];
            Vector user = load(user_vectors, u), item = load_shared(shared, mine);
            step(user, item, values[e], rate, keep, group());
            store(user_vectors, u, user);
            store_shared(shared, mine, item);
            log_update(e, u, node, user_clock, item_clock, user_turn, item_turn);
            if (part() == 0) {
                tally.add(e);
                trace_event(0, e, s);
            }
            ++e;
        }
        if (s + 1 < rounds) superstep(barrier);
    }
    if (owner) {
        const Vector item = load_shared(shared, mine);
        store(item_vectors, node, item);
    }
    tally.report(applied);
}
