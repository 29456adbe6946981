// Optimization step 5: no levels. A vertex is ready when its last predecessor is done, whatever its level.
//
// What it computes   order: the vertices, each after its predecessors, not by layers. state: four counters (vertices
//                    placed, queued, tickets drawn, vertices done), all zero at first, as is halt.
// Idea               a warp holds up to 32 ready vertices and balances their arcs over its lanes. The warp whose
//                    atomicSub removes the last predecessor claims the next place in the order at once. It processes
//                    the vertices that it made ready; those beyond 32 it appends to a queue. An idle lane draws a
//                    ticket, the number of a slot in that queue, and polls the slot until it is filled. Sources have
//                    the first tickets, and are read from the order.
// Correctness        u is placed before any of its arcs is removed, since its place is known (the atomic has returned
//                    and a branch depends on the result) before the next atomicSub is issued. v is placed after the
//                    last of its arcs is removed. All places come from one counter, so place(u) < place(v).
// Termination        all vertices are processed when as many are done as were placed. done is read first: both only
//                    grow, and done never exceeds placed.
// Cost               a chain's step is a target's load, an atomicSub and an atomicAdd, without a level barrier.
//
// References: F. Busato, N. Bombieri, "An efficient implementation of the Bellman-Ford algorithm for Kepler GPU
//             architectures", TPDS 2016 (following in registers); S. Tzeng, A. Patney, J. Owens, "Task management for
//             irregular-parallel workloads on the GPU", HPG 2010 (queues of tickets).
#include "device.cuh"
#include "expand.cuh"

constexpr int poll_interval = 16;  // rounds between two polls of the stop flag

// Words of state, each on a cache line of its own, which avoids false sharing between pollers and writers.
constexpr int placed_word = 1, handed_word = 32, ticket_word = 64, done_word = 96;

// Assigns places to the buffer's vertices (at most buffer_slots). Returns the row of vertex `lane` of the buffer, which
// is loaded while the atomic is in flight.
__device__ inline Word claim(const Rows& rows, const int* buffer, int buffered, int* order, int* state, int n) {
    __syncwarp();
    const int lane = lane_id();
    int place = 0;
    if (lane == 0) place = atomicAdd(state + placed_word, buffered);
    const int v = lane < buffered ? buffer[lane] : -1;
    const Word row = v >= 0 ? bounds(rows, v) : 0;
    place = __shfl_sync(full_mask, place, 0);
    if (place + buffered > n) return 0;  // never true; makes later instructions depend on the atomic's result
    for (int i = lane; i < buffered; i += 32) order[place + i] = buffer[i];
    return row;
}

// Places the buffer's vertices and appends their rows to the queue, whose slots idle lanes poll.
__device__ inline void hand_over(const Rows& rows, const int* buffer, int buffered, int* order, Word* queue, int* state,
                                 int n) {
    const int lane = lane_id();
    Word row = claim(rows, buffer, buffered, order, state, n);
    int slot = 0;
    if (lane == 0) slot = atomicAdd(state + handed_word, buffered);
    slot = __shfl_sync(full_mask, slot, 0);
    for (int i = lane; i < buffered; i += 32) {
        if (i > lane) row = bounds(rows, buffer[i]);
        store_relaxed(queue + slot + i, row);
    }
    __syncwarp();
}

// stop: see StopFlag; once it is not zero, the sort may end at once, with the order incomplete. done: if not null, 1 is
// written there at the end; it may be the host's memory.
extern "C" __global__ void __launch_bounds__(1024, 1)
    asynchronous(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
                 int* in_degrees, int* order, unsigned long long* queue, int* state, int* halt, unsigned* barrier,
                 const unsigned long long* stop, unsigned long long* done, int n) {
    DYNAMIC_SHARED(int, shared);
    const int lane = lane_id();
    const unsigned below = (1u << lane) - 1;
    const Rows rows = {first, last, targets};
    int* buffer = shared + head_words + warp_id() * buffer_slots;
    const StopFlag stop_flag = {stop};
    const bool polls_host = global_thread() == 0;  // all others poll a copy of the flag in the GPU's memory
    if (threadIdx.x < head_words) shared[threadIdx.x] = 0;
    for (int i = global_thread(); i < n; i += global_threads()) queue[i] = unwritten;
    push_sources(rows, in_degrees, n, order, nullptr, reinterpret_cast<Word*>(state), shared + head_words);
    grid_barrier(barrier);
    // Between here and the next barrier no thread appends, so all read the same number.
    const int sources = load_relaxed(state + placed_word);
    grid_barrier(barrier);
    bool busy = false;  // this lane holds a ready vertex, whose arcs are `row`
    Word row = 0;
    int ticket = -1;
    unsigned idle = 0, rounds = 0;
    for (;;) {
        if (stop && ++rounds % poll_interval == 0) {
            if (polls_host) {
                if (stop_flag.poll()) store_relaxed(halt, 1);
                stop_flag.request();
            }
            if (__shfl_sync(full_mask, lane == 0 ? load_relaxed(halt) : 0, 0)) break;
        }
        const unsigned draw = __ballot_sync(full_mask, !busy && ticket < 0);
        if (draw) {
            int number = 0;
            if (lane == 0) number = atomicAdd(state + ticket_word, __popc(draw));
            number = __shfl_sync(full_mask, number, 0) + __popc(draw & below);
            if (!busy && ticket < 0) ticket = number;
        }
        // Loaded now, used at the end of the round: the latency overlaps the work of busy lanes.
        Word seen = unwritten;
        if (!busy) {
            if (ticket < sources) seen = bounds(rows, load_relaxed(order + ticket));
            else if (ticket - sources < n) seen = load_relaxed(queue + ticket - sources);
        }
        int buffered = 0, working = __popc(__ballot_sync(full_mask, busy));
        if (working) {
            const LoadBalance balance(busy, row);
            for (int k = 0; k < balance.total; k += 32 * arcs_at_once) {
                decrement_arcs(rows, balance, k, in_degrees, buffer, buffered);
                if (buffered > 0 && k + 32 * arcs_at_once < balance.total) {  // more arcs follow: queue all of these
                    hand_over(rows, buffer, buffered, order, queue, state, n);
                    buffered = 0;
                }
            }
        }
        const bool found = seen != unwritten;
        const unsigned taken = __ballot_sync(full_mask, found);
        if (!working && !taken) {
            // Back-off: idle warps poll less often, the shared counters least.
            if (++idle > 4) pause(64);
            if (idle % 8 == 0) {
                int over = 0;
                if (lane == 0) {
                    const int done = load_acquire(state + done_word);
                    over = done == load_acquire(state + placed_word);
                }
                if (__shfl_sync(full_mask, over, 0)) break;
            }
            continue;
        }
        idle = 0;
        if (buffered > 32 - __popc(taken)) {  // more than this warp's idle lanes
            hand_over(rows, buffer, buffered, order, queue, state, n);
            buffered = 0;
        }
        Word claimed = 0;
        if (buffered > 0) claimed = claim(rows, buffer, buffered, order, state, n);
        // All vertices made ready in this round are placed: the warp's previous vertices now count as done.
        if (lane == 0 && working) atomicAdd(state + done_word, working);
        const int rank = __popc(~taken & below);
        claimed = __shfl_sync(full_mask, claimed, rank);
        busy = found || rank < buffered;
        row = found ? seen : claimed;
        if (found) ticket = -1;
        __syncwarp();
    }
    if (done && global_thread() == 0) *const_cast<volatile Word*>(done) = 1;
    stop_flag.drain();
}
