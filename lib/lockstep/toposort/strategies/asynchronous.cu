// Ladder, step 5: no levels. A vertex is ready when its last predecessor is done, whatever happens elsewhere.
//
// What it computes   order: the vertices, each behind its predecessors, in no particular layers. state: four counters
//                    (vertices placed, handed over, tickets taken, vertices done), all zero at first, as is halt.
// Idea               a warp holds up to 32 ready vertices and deals their arcs out to its lanes. Who takes the last
//                    predecessor away claims the next place in the order, at once. The warp goes on with what it made
//                    ready; what is more than 32 it hands over through a queue. A lane without a vertex draws a ticket,
//                    the number of a place in that queue, and polls it until it is filled: the sources
//                    come first, they are there already.
// Why it is right    u is placed before any of its arcs is taken away, for the place is known (the atomic has answered
//                    and a branch depends on the answer) before the next atomicSub is sent. v is placed after the last
//                    of its arcs is. All places come from one counter, so place(u) < place(v).
// How it ends        no vertex is under way when as many are done as were placed. done is read first: both only grow,
//                    and done never exceeds placed.
// Costs              a step of a chain is a target's load, an atomicSub and an atomicAdd; it does not wait for the end
//                    of a level.
//
// References: F. Busato, N. Bombieri, "An efficient implementation of the Bellman-Ford algorithm for Kepler GPU
//             architectures", TPDS 2016 (following in registers); S. Tzeng, A. Patney, J. Owens, "Task management for
//             irregular-parallel workloads on the GPU", HPG 2010 (queues of tickets).
#include "device.cuh"
#include "expand.cuh"

constexpr int between_looks = 16;  // rounds between two polls of the stop flag

// Words of state, each on a cache line of its own: those who look at one must not slow down those who change another.
constexpr int placed_word = 1, handed_word = 32, ticket_word = 64, done_word = 96;

// Give the buffer's vertices (at most buffer_slots) their places. Returns the row of vertex `lane` of the buffer; a row
// is asked for while the atomic is under way.
__device__ inline Word claim(const Rows& rows, const int* buffer, int held, int* order, int* state, int n) {
    __syncwarp();
    const int lane = lane_id();
    int place = 0;
    if (lane == 0) place = atomicAdd(state + placed_word, held);
    const int v = lane < held ? buffer[lane] : -1;
    const Word row = v >= 0 ? bounds(rows, v) : 0;
    place = __shfl_sync(full_mask, place, 0);
    if (place + held > n) return 0;  // cannot be; but it makes all that follows wait for the answer
    for (int i = lane; i < held; i += 32) order[place + i] = buffer[i];
    return row;
}

// Place the buffer's vertices and put their rows into the queue, where lanes without work look.
__device__ inline void hand_over(const Rows& rows, const int* buffer, int held, int* order, Word* queue, int* state, int n) {
    const int lane = lane_id();
    Word row = claim(rows, buffer, held, order, state, n);
    int slot = 0;
    if (lane == 0) slot = atomicAdd(state + handed_word, held);
    slot = __shfl_sync(full_mask, slot, 0);
    for (int i = lane; i < held; i += 32) {
        if (i > lane) row = bounds(rows, buffer[i]);
        store_relaxed(queue + slot + i, row);
    }
    __syncwarp();
}

// stop: see StopFlag; once it is not zero, the sort may end at once, with whatever there is. done: if not null, 1 is
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
    const bool asks = global_thread() == 0;  // reads the host's flag; all others read a copy in the GPU's memory
    if (threadIdx.x < head_words) shared[threadIdx.x] = 0;
    for (int i = global_thread(); i < n; i += global_threads()) queue[i] = unwritten;
    push_sources(rows, in_degrees, n, order, nullptr, reinterpret_cast<Word*>(state), shared + head_words);
    grid_barrier(barrier);
    // Between here and the next barrier no thread appends, so all read the same number.
    const int sources = load_relaxed(state + placed_word);
    grid_barrier(barrier);
    bool busy = false;  // this lane has a ready vertex, whose arcs are `row`
    Word row = 0;
    int ticket = -1;
    unsigned idle = 0, rounds = 0;
    for (;;) {
        if (stop && ++rounds % between_looks == 0) {
            if (asks) {
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
        // Look now, take it up at the end of the round: lanes with work need not wait for the answer.
        Word seen = unwritten;
        if (!busy) {
            if (ticket < sources) seen = bounds(rows, load_relaxed(order + ticket));
            else if (ticket - sources < n) seen = load_relaxed(queue + ticket - sources);
        }
        int held = 0, working = __popc(__ballot_sync(full_mask, busy));
        if (working) {
            const Deal deal(busy, row);
            for (int k = 0; k < deal.total; k += 32 * arcs_at_once) {
                take_away(rows, deal, k, in_degrees, buffer, held);
                if (held > 0 && k + 32 * arcs_at_once < deal.total) {  // more to come: place these, and keep none
                    hand_over(rows, buffer, held, order, queue, state, n);
                    held = 0;
                }
            }
        }
        const bool found = seen != unwritten;
        const unsigned taken = __ballot_sync(full_mask, found);
        if (!working && !taken) {
            // The longer nothing comes, the less it looks; least at the words that the busy write to.
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
        if (held > 32 - __popc(taken)) {  // more than this warp can take on
            hand_over(rows, buffer, held, order, queue, state, n);
            held = 0;
        }
        Word claimed = 0;
        if (held > 0) claimed = claim(rows, buffer, held, order, state, n);
        // All that this round's vertices made ready is placed: now they count as done.
        if (lane == 0 && working) atomicAdd(state + done_word, working);
        const int rank = __popc(~taken & below);
        claimed = __shfl_sync(full_mask, claimed, rank);
        busy = found || rank < held;
        row = found ? seen : claimed;
        if (found) ticket = -1;
        __syncwarp();
    }
    if (done && global_thread() == 0) *const_cast<volatile Word*>(done) = 1;
    stop_flag.drain();
}
