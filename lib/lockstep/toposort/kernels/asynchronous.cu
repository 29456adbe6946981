// Ladder, step 5: no levels. A vertex is ready when its last predecessor is done, whatever happens elsewhere.
//
// What it computes   order: the vertices, each behind its predecessors, in no particular layers. state: {vertices placed,
//                    vertices handed over, tickets taken, vertices done}, all zero at first.
// Idea               a warp holds up to 32 ready vertices and deals their arcs out to its lanes. Who takes the last
//                    predecessor away claims the next place in the order, at once. The warp goes on with what it made
//                    ready; what is more than 32 it hands over through a queue. A lane without a vertex draws a ticket,
//                    the number of a place in that queue, and looks there until somebody has filled it: the sources
//                    come first, they are there already.
// Why it is right    u is placed before any of its arcs is taken away, for the place is known (the atomic has answered and
//                    a branch depends on the answer) before the next atomicSub is sent. v is placed after the last of its
//                    arcs is. All places come from one counter, so place(u) < place(v).
// How it ends        no vertex is under way when as many are done as were placed. done is read first: both only grow, and
//                    done never exceeds placed.
// Costs              a step of a chain is a target's load, an atomicSub and an atomicAdd: about 0.6 us on an H200, against
//                    1.5-2 us of a level with a grid barrier; but a chain waits for nobody else's level.
//
// References: F. Busato, N. Bombieri, "An efficient implementation of the Bellman-Ford algorithm for Kepler GPU
//             architectures", TPDS 2016 (following in registers); S. Tzeng, A. Patney, J. Owens, "Task management for
//             irregular-parallel workloads on the GPU", HPG 2010 (queues of tickets).
#include "device.cuh"
#include "expand.cuh"

// Give the buffer's vertices their places, and leave them in the buffer.
__device__ inline void claim(const int* buffer, int held, int* order, int* state, int n) {
    __syncwarp();
    const int lane = lane_id();
    int place = 0;
    if (lane == 0) place = atomicAdd(state, held);
    place = __shfl_sync(full_mask, place, 0);
    if (place + held > n) return;  // cannot be; but it makes all that follows wait for the answer
    for (int i = lane; i < held; i += 32) store_relaxed(order + place + i, buffer[i]);
}

extern "C" __global__ void __launch_bounds__(1024)
    asynchronous(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
                 int* in_degrees, int* order, int* queue, int* state, unsigned* barrier, int n) {
    DYNAMIC_SHARED(int, shared);
    const int lane = lane_id();
    int* buffer = shared + warp_id() * buffer_slots;
    for (int i = global_thread(); i < n; i += global_threads()) queue[i] = -1;
    push_sources(in_degrees, n, order, state, shared);
    grid_barrier(barrier);
    // Between here and the next barrier nobody adds to state[0], so all read the same number.
    const int sources = load_relaxed(state);
    grid_barrier(barrier);
    int vertex = -1, ticket = -1;
    unsigned idle = 0;
    for (;;) {
        const unsigned draw = __ballot_sync(full_mask, vertex < 0 && ticket < 0);
        if (draw) {
            int number = 0;
            if (lane == 0) number = atomicAdd(state + 2, __popc(draw));
            number = __shfl_sync(full_mask, number, 0) + __popc(draw & ((1u << lane) - 1));
            if (vertex < 0 && ticket < 0) ticket = number;
        }
        if (vertex < 0) {
            if (ticket < sources) vertex = load_relaxed(order + ticket);
            else if (ticket - sources < n) vertex = load_relaxed(queue + ticket - sources);
            if (vertex >= 0) ticket = -1;
        }
        const unsigned busy = __ballot_sync(full_mask, vertex >= 0);
        if (!busy) {
            int over = 0;
            if (lane == 0) {
                const int done = load_acquire(state + 3);
                over = done == load_acquire(state);
            }
            if (__shfl_sync(full_mask, over, 0)) break;
            if (++idle > 4) pause(64);  // the longer nothing comes, the less it looks
            continue;
        }
        idle = 0;
        int from = 0, degree = 0;
        if (vertex >= 0) {
            from = first[vertex];
            degree = last[vertex] - from;
        }
        const int sum = scan_lanes(degree);
        const int shift = from - (sum - degree);
        const int total = __shfl_sync(full_mask, sum, 31);
        int held = 0;
        for (int k = 0; k < total; k += 32 * arcs_at_once) {
            int target[arcs_at_once];
            bool ready[arcs_at_once];
#pragma unroll
            for (int j = 0; j < arcs_at_once; ++j) {
                target[j] = -1;
                if (k + 32 * j < total) {
                    const int mine = k + 32 * j + lane;
                    const int arc = find_arc(mine, sum, shift);
                    if (mine < total) target[j] = targets[arc];
                }
            }
#pragma unroll
            for (int j = 0; j < arcs_at_once; ++j) {
                ready[j] = target[j] >= 0 && atomicSub(&in_degrees[target[j]], 1) == 1;
            }
#pragma unroll
            for (int j = 0; j < arcs_at_once; ++j) {
                if (k + 32 * j < total) push(ready[j], target[j], buffer, held);
            }
            if (held > 32 || (held > 0 && k + 32 * arcs_at_once < total)) {
                // More than this warp can take on, or more to come: place all, keep none.
                claim(buffer, held, order, state, n);
                int slot = 0;
                if (lane == 0) slot = atomicAdd(state + 1, held);
                slot = __shfl_sync(full_mask, slot, 0);
                for (int i = lane; i < held; i += 32) store_relaxed(queue + slot + i, buffer[i]);
                held = 0;
                __syncwarp();
            }
        }
        if (held > 0) claim(buffer, held, order, state, n);
        // All that this round's vertices make ready is placed: now they count as done.
        if (lane == 0) atomicAdd(state + 3, __popc(busy));
        vertex = lane < held ? buffer[lane] : -1;
        __syncwarp();
    }
}
