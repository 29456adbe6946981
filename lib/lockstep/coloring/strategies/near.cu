// Colors a graph whose degrees are all below 16, such as a road network, exactly as waiting.cu does: largest degree
// first, ties by a seeded hash, the smallest color that no neighbor of higher priority has; each vertex waits for those
// alone.
//
// The difference is the data placement. In such graphs ids mostly follow location, so neighbors have close ids. A block
// owns a range of ids and keeps its offsets and states in shared memory, whose latency is a tenth of that of L2; only a
// vertex with a neighbor outside the range publishes its state in global memory as well. Any numbering gives the same
// colors; a random one is slower.
//
// A state is the set of colors that a vertex may still take, bits 0..15, and only shrinks; one bit is a final color.
// The word is the whole message. The shortcuts (EARLY) are those of waiting.cu; without them a vertex publishes its
// final color only, and keeps its set private in bits 16..31.
//
// One cooperative launch. A split grid barrier lies between clearing the states of the last run and reading those of
// other blocks: a block arrives once it has cleared its own, and waits only after it has built its lists of
// predecessors, which hides the barrier's latency.
//
// References: those of waiting.cu.
//
// compile: EARLY=0,1 THREADS=128,256,512,1024
#include "device.cuh"
#include "priority.cuh"

constexpr int all_colors = 0xffff;
constexpr int wide = 4;  // loads of a lane that overlap

// Split grid barrier: in `barrier_arrive` thread 0 arrives and returns the phase that `barrier_done` compares. state:
// see grid_barrier.
__device__ __forceinline__ unsigned barrier_arrive(unsigned* state) {
    __threadfence();
    return atomicAdd(state, blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u);
}
__device__ __forceinline__ bool barrier_done(const unsigned* state, unsigned old_phase) {
    return (load_acquire(state) ^ old_phase) & 0x80000000u;
}

struct Range {
    const int* offsets;
    const int* targets;
    const int* state;
    int low, size;
    const int* shared_offsets;    // offsets of the range, in shared memory
    const int* shared_states;  // states of the range, in shared memory

    __device__ __forceinline__ bool owns(int u) const {
        return static_cast<unsigned>(u - low) < static_cast<unsigned>(size);
    }
    // Two loads, each from a known state space: a generic load takes longer.
    __device__ __forceinline__ int degree(int u) const {
        return owns(u) ? shared_offsets[u - low + 1] - shared_offsets[u - low] : offsets[u + 1] - offsets[u];
    }
    __device__ __forceinline__ int state_of(int u) const {
        return (owns(u) ? *static_cast<const volatile int*>(shared_states + (u - low))
                : load_relaxed(state + u)) & all_colors;
    }
};

// per_block: vertices of a block, a multiple of 32; two words a vertex in shared memory bound it far below 65,536. An
// item of a list is a vertex of the range (bits 0..15), which of its neighbors it waits for (16..30), and whether it
// has neighbors outside (31).
extern "C" __global__ void __launch_bounds__(THREADS, 1)
near_ids(const int* __restrict__ offsets, const int* __restrict__ targets, int n, unsigned seed, int per_block,
         int* state, int* colors, unsigned* barrier) {
    DYNAMIC_SHARED(int, shared);
    const int lane = lane_id(), per_thread = (per_block + THREADS - 1) / THREADS, tid = threadIdx.x;
    int* shared_offsets = shared;
    int* shared_states = shared_offsets + per_block + 1;
    unsigned* list = reinterpret_cast<unsigned*>(shared_states + per_block) + warp_id() * per_thread * 32;
    const int low = static_cast<int>(blockIdx.x) * per_block, size = max(min(per_block, n - low), 0);
    const Range range = {offsets, targets, state, low, size, shared_offsets, shared_states};

    for (int i = tid; i < size; i += THREADS) {
        shared_offsets[i] = offsets[low + i];
        shared_states[i] = -1;  // anything
        state[low + i] = -1;
    }
    if (tid == 0) shared_offsets[size] = offsets[min(low + size, n)];
    __syncthreads();
    unsigned old_phase = 0;
    if (tid == 0) old_phase = barrier_arrive(barrier);

    // Predecessor lists: the neighbors of higher priority, a bit each.
    int remaining = 0;
    for (int pass = 0; pass < per_thread; ++pass) {
        const int i = pass * THREADS + tid, v = low + i;
        int pending = 0;
        bool outside = false;
        if (i < size) {
            const int first = shared_offsets[i], degree = shared_offsets[i + 1] - first;
            const unsigned hash_v = priority_hash(v, seed);
            auto classify = [&](int j, int u, int degree_u) {
                outside |= !range.owns(u);
                if (degree_u != degree ? degree_u > degree : priority_hash(u, seed) > hash_v) pending |= 1 << j;
            };
            int u[wide], degree_u[wide];
            for (int k = 0; k < wide; ++k) u[k] = degree ? targets[first + min(k, degree - 1)] : v;
            for (int k = 0; k < wide; ++k) degree_u[k] = range.degree(u[k]);
            for (int k = 0; k < wide; ++k)
                if (k < degree) classify(k, u[k], degree_u[k]);
            for (int j = wide; j < degree; ++j) {  // one by one: few lanes of a warp have so many neighbors
                const int other = targets[first + j];
                classify(j, other, range.degree(other));
            }
            const int possible = (2 << __popc(pending)) - 1;  // k predecessors: the color is at most k
            if (EARLY || !pending) {
                store_relaxed(shared_states + i, possible);
                if (outside) store_relaxed(state + v, possible);
            }
        }
        const unsigned votes = __ballot_sync(full_mask, pending != 0);
        if (pending)
            list[remaining + __popc(votes & ((1u << lane) - 1))] = i | pending << 16 | (outside ? 0x80000000u : 0u);
        remaining += __popc(votes);
    }
    if (tid == 0)
        while (!barrier_done(barrier, old_phase)) {}
    __syncthreads();

    // A warp polls its list repeatedly and drops finished vertices.
    while (remaining) {
        int kept = 0;
        for (int start = 0; start < remaining; start += 32) {
            const unsigned item = start + lane < remaining ? list[start + lane] : 0;
            int pending = item >> 16 & 0x7fff;
            const int i = item & 0xffff;
            // `published` has two bits or more while pending != 0: there is one color more than predecessors, and
            // each removes at most one. So a final color differs from `published`, and is stored.
            if (pending) {
                const int* row = targets + shared_offsets[i];
                const int published = EARLY ? shared_states[i] : shared_states[i] >> 16 & all_colors;
                int possible = published, neighbor_colors = 0;
                for (int unpolled = pending; unpolled;) {
                    int bit[wide], allowed[wide];
                    for (int k = 0; k < wide; ++k) {
                        bit[k] = unpolled & -unpolled;
                        unpolled ^= bit[k];
                    }
                    for (int k = 0; k < wide; ++k) allowed[k] = bit[k] ? range.state_of(row[31 - __clz(bit[k])]) : 0;
                    for (int k = 0; k < wide; ++k) {
                        if (!(allowed[k] & (allowed[k] - 1))) possible &= ~allowed[k];
                        if (!(allowed[k] & possible)) pending &= ~bit[k];
                        else neighbor_colors |= allowed[k];
                    }
                }
                const int smallest = possible & -possible;
                if (EARLY ? !(neighbor_colors & smallest) : !pending) possible = smallest, pending = 0;
                if (possible != published) {
                    const bool shown = EARLY || !pending;
                    // other threads read it concurrently
                    atomicAnd(shared_states + i, shown ? possible : possible << 16 | all_colors);
                    if (shown && item >> 31) store_relaxed(state + low + i, possible);
                }
            }
            const unsigned votes = __ballot_sync(full_mask, pending != 0);
            if (pending) list[kept + __popc(votes & ((1u << lane) - 1))] = i | pending << 16 | (item & 0x80000000u);
            kept += __popc(votes);  // kept <= start: those places have been read
        }
        __syncwarp();
        if (kept == remaining) pause(40);
        remaining = kept;
    }
    // A thread's own vertices, which its warp has finished: no barrier.
    for (int pass = 0; pass < per_thread; ++pass) {
        const int i = pass * THREADS + tid;
        if (i < size) colors[low + i] = __ffs(shared_states[i]) - 1;
    }
}
