// Asynchronous shortest paths: each block owns a range of vertices, holds their distances in shared memory (OUTSIDE:
// global memory) and iterates without grid barriers.
//
// A step costs a block barrier (tens of ns) instead of a grid barrier (a microsecond) and uses shared-memory atomics.
// On road networks, whose paths have thousands of arcs, the number of dependent steps determines the time.
//
// Communication between blocks
//   inbox    An arc that leaves the range lowers inbox[target] in global memory by an atomicMin without return value.
//            At each step a block reads the inboxes of its vertices that have incoming arcs from other ranges (found
//            once, at the start). Loads of a thread's first `prefetched` inboxes are consumed one step later, which
//            hides the L2 latency. Without a queue there are no capacity, duplicates or lost values: a minimum
//            persists.
//   horizon  A block relaxes its pending vertices nearer than (smallest pending distance of all blocks) + delta and
//            defers the others. These minima are published and read without synchronization; a stale one causes
//            redundant or deferred relaxations, never a wrong result. This is delta-stepping with a sliding bucket.
//   end      A block without pending vertices votes. When all have voted, the vote closes and the next one opens; a
//            block votes again after it has reread its inboxes and found nothing. A vote in which no block reports
//            work since the previous vote ends the run: all values were sent before that previous vote (a fence
//            precedes each), and every block has since reread its inboxes without a change.
//
// narrow: a vertex's word is distance << 1 | pending, so that one atomicMin lowers the distance and sets the flag;
// wide: the flags are a bit array. A list that overflows makes the next step scan all vertices (dense); that step may
// list a vertex twice, which costs a visit per step, since `claim` returns it once.
//
// Best where most arcs stay inside a range of ids: road networks with spatial ids. Correct on any graph.
//
// References: optimistic execution (here without rollback): D. Jefferson, Virtual time, TOPLAS 1985; two-wave
// termination: F. Mattern, Algorithms for distributed termination detection, Distributed Computing 2 (1987).
// compile: DISTANCE=unsigned,double GROUP=4 THREADS=512,1024 LOCAL=0,1
// compile: DISTANCE=unsigned GROUP=4 THREADS=512,1024 LOCAL=0 OUTSIDE=1
// compile: DISTANCE=double GROUP=4 THREADS=512 LOCAL=0 OUTSIDE=1
#include "types.cuh"

#ifndef GROUP
#define GROUP 4
#endif
#ifndef THREADS
#define THREADS 256
#endif
#ifndef LOCAL
#define LOCAL 0   // 1: the range's arcs and offsets are copied to shared memory
#endif

#ifndef OUTSIDE
#define OUTSIDE 0  // 1: the range exceeds shared memory and lies in global memory: slower
#endif

constexpr unsigned finished = 0xffffffffu;
constexpr int prefetched = 4;                       // inboxes per thread whose loads are issued one step ahead
constexpr int overflow = 0, steps_word = 1, relaxed_word = 2;  // control words; relaxed counts only with COUNT
#ifndef COUNT
#define COUNT 0
#endif

// A block's state in shared (OUTSIDE: global) memory.
struct Range {
    Distance* state;           // narrow: (distance << 1) | pending; wide: distance
    unsigned* pending;         // wide only: one bit per vertex
    unsigned short* lists;     // two of `capacity` entries, alternating
    int* count;                // [3] list lengths, rotating: read, written, cleared
    int capacity;
};

// Distance and pending flag of a vertex, in one word or two.
template <class T> struct State;
template <> struct State<unsigned> {
    static __device__ __forceinline__ unsigned start(bool source) { return source ? 1u : infinity() * 2; }
    static __device__ __forceinline__ unsigned distance(const Range& r, int v) {
        return *(volatile const unsigned*)(r.state + v) >> 1;
    }
    static __device__ __forceinline__ bool pending(const Range& r, int v) {
        return *(volatile const unsigned*)(r.state + v) & 1u;
    }
    // Returns 0: not lowered; 1: lowered, already pending; 2: lowered, newly pending.
    static __device__ __forceinline__ int lower_and_mark(const Range& r, int v, unsigned d) {
        const unsigned word = d << 1 | 1u, old = atomicMin((unsigned*)r.state + v, word);
        return old <= word ? 0 : old & 1u ? 1 : 2;
    }
    // Claims a pending vertex; returns its distance, or infinity if another thread claimed it.
    static __device__ __forceinline__ unsigned claim(const Range& r, int v) {
        const unsigned old = atomicAnd((unsigned*)r.state + v, ~1u);
        return old & 1u ? old >> 1 : infinity();
    }
};
template <> struct State<double> {
    static __device__ __forceinline__ double start(bool source) { return source ? 0.0 : infinity(); }
    static __device__ __forceinline__ double distance(const Range& r, int v) {
        return *(volatile const double*)(r.state + v);
    }
    static __device__ __forceinline__ bool pending(const Range& r, int v) {
        return *(volatile const unsigned*)(r.pending + (v >> 5)) >> (v & 31) & 1u;
    }
    // Distance before bit here, bit before distance in `claim`: each second access is issued after the first returned,
    // which keeps the order without a fence.
    static __device__ __forceinline__ int lower_and_mark(const Range& r, int v, double d) {
        if (lower(r.state + v, (Distance)d) <= d) return 0;
        const unsigned bit = 1u << (v & 31);
        return atomicOr(r.pending + (v >> 5), bit) & bit ? 1 : 2;
    }
    static __device__ __forceinline__ double claim(const Range& r, int v) {
        const unsigned bit = 1u << (v & 31);
        return atomicAnd(r.pending + (v >> 5), ~bit) & bit ? distance(r, v) : (double)infinity();
    }
};
typedef State<Distance> Vertex;

__device__ __forceinline__ void enlist(const Range& r, int v, int slot, int list) {
    const int place = atomicAdd(r.count + slot, 1);
    if (place < r.capacity) r.lists[list * r.capacity + place] = (unsigned short)v;
}

// Lowers vertex v of the range and appends it to the list unless it is already pending.
__device__ __forceinline__ void relax(const Range& r, int v, Distance d, int slot, int list, Distance& low) {
    if (d >= Vertex::distance(r, v)) return;
    const int change = Vertex::lower_and_mark(r, v, d);
    if (change == 0) return;
    low = d < low ? d : low;
    if (change == 2) enlist(r, v, slot, list);
}

extern "C" __global__ void __launch_bounds__(THREADS)
asynchronous(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n, int source, int range,
             int local_arcs, int list_capacity, DISTANCE delta, DISTANCE limit, DISTANCE* inbox, int* border,
             DISTANCE* lows, unsigned* vote, int* control, DISTANCE* dist, unsigned* barrier, unsigned char* outside,
             long long stride) {
#if OUTSIDE
    unsigned char* const memory = outside + stride * blockIdx.x;
#else
    DYNAMIC_SHARED(unsigned char, memory);
#endif
    const int thread = (int)threadIdx.x, blocks = (int)gridDim.x, block = (int)blockIdx.x;
    const int first = min(block * range, n), size = min(range, n - first);

    // ---- memory layout of the block
    Range r;
    unsigned char* at = memory;
    r.state = (Distance*)at, at += sizeof(Distance) * (size_t)range;
    at = memory + (((size_t)(at - memory) + 15) & ~(size_t)15);
    Arc* const own_arcs = (Arc*)at;
    if (LOCAL) at += sizeof(Arc) * (size_t)local_arcs;
    Distance* const lowest = (Distance*)at;  // [3] smallest pending distance of the block
    at += 4 * sizeof(Distance);
    Distance* const nearest = (Distance*)at;  // [3] smallest pending distance of all blocks, possibly stale
    at += 4 * sizeof(Distance);
    r.count = (int*)at, at += 4 * sizeof(int);
    unsigned* const vote_number = (unsigned*)at;
    at += 2 * sizeof(unsigned);
    int* const receiver_count = (int*)at;
    at += 2 * sizeof(int);
    int* const own_offsets = (int*)at;
    if (LOCAL) at += sizeof(int) * (size_t)(range + 1);
    r.pending = (unsigned*)at;
    if (!Traits::narrow) at += sizeof(unsigned) * (size_t)((range + 31) / 32);
    r.lists = (unsigned short*)at;
    r.capacity = list_capacity;

    // ---- start: distances and inboxes; then flags of vertices that other blocks send to; then their list
    for (int v = thread; v < size; v += THREADS) {
        r.state[v] = Vertex::start(first + v == source);
        inbox[first + v] = infinity();
        border[first + v] = 0;
    }
    if (!Traits::narrow)
        for (int i = thread; i < (range + 31) / 32; i += THREADS) r.pending[i] = 0;
    const int base = size > 0 ? offsets[first] : 0, end = size > 0 ? offsets[first + size] : 0;
    if (LOCAL) {
        for (int v = thread; v <= size && size > 0; v += THREADS) own_offsets[v] = offsets[first + v] - base;
        for (int e = thread; e < end - base; e += THREADS) own_arcs[e] = load_arc(arcs + base + e);
    }
    if (thread == 0) {
        for (int i = 0; i < 3; ++i) r.count[i] = 0, lowest[i] = nearest[i] = infinity();
        *receiver_count = 0;
        nearest[0] = 0;
        vote_number[0] = vote_number[1] = 0;
        store_relaxed(lows + block, infinity());
        if (block == 0)
            store_relaxed(vote, 0u), store_relaxed(vote + 1, 0u), control[overflow] = 0, control[steps_word] = 0;
    }
    grid_barrier(barrier);
    for (int e = base + thread; e < end; e += THREADS) {
        const int target = (int)load_arc(arcs + e).target;
        if ((unsigned)(target - first) >= (unsigned)size) store_relaxed(border + target, 1);
    }
    if (thread == 0 && (unsigned)(source - first) < (unsigned)size) {
        if (!Traits::narrow) r.pending[(source - first) >> 5] = 1u << ((source - first) & 31);
        r.lists[0] = (unsigned short)(source - first);
        r.count[0] = 1;
        lowest[0] = 0;
    }
    grid_barrier(barrier);
    int* const receivers = (int*)(dist + first);  // `dist` holds this list until the results are written
    for (int v0 = 0; v0 < size; v0 += THREADS) {
        const int v = v0 + thread;
        const bool gets = v < size && load_relaxed(border + first + v);
        if (gets) receivers[atomicAdd(receiver_count, 1)] = v;
    }
    __syncthreads();
    const int receiver_total = *(volatile const int*)receiver_count;
    int place[prefetched];
    for (int j = 0; j < prefetched; ++j)
        place[j] = thread + j * THREADS < receiver_total ? receivers[thread + j * THREADS] : -1;

    // ---- steps
    const int lane = thread % GROUP;
    const unsigned group_mask = GROUP == 32 ? full_mask : ((1u << GROUP) - 1) << ((int)lane_id() - lane);
    bool active = true, voted = false;
    unsigned own_vote = 0;
    int step = 0, seen_at = -2;
    Distance received[prefetched], loaded_min = 0;  // loads issued in the previous step
    unsigned loaded_vote = 0;
    for (int j = 0; j < prefetched; ++j) received[j] = infinity();
    long long relaxations = 0;
    Distance published = infinity();  // what thread 0 has published
    for (;; ++step) {
        __syncthreads();
        const int now = step % 3, following = (step + 1) % 3, list = step & 1;
        const int count = *(volatile const int*)(r.count + now);
        const Distance near = *(volatile const Distance*)(nearest + now),
            horizon = near < infinity() ? sum(near, delta) : near;
        const unsigned seen = *(volatile const unsigned*)(vote_number + (step & 1));
        if (seen == finished) break;
        if (voted && seen != own_vote) own_vote = seen, voted = false, seen_at = step;
        if (count > 0) active = true;
        else if (!voted && step >= seen_at + 2) {  // inboxes loaded since the vote closed hold nothing new
            __threadfence();
            __syncthreads();
            if (thread == 0) {
                __threadfence();  // cumulativity: covers the sends of the block's other threads before the barrier
                const unsigned old = atomicAdd(vote, 1u + (active ? 0x10000u : 0u));
                if ((old & 0xffffu) == (unsigned)blocks - 1) {
                    const bool quiet = !active && (old >> 16) == 0;
                    store_relaxed(vote, 0u);
                    __threadfence();
                    store_release(vote + 1, quiet ? finished : own_vote + 1);
                }
            }
            voted = true;
            active = false;
        }
        if (thread == 0) {
            const Distance low = *(volatile const Distance*)(lowest + now);
            if (low != published) store_relaxed(lows + block, low), published = low;
            const int clear = (step + 2) % 3;
            r.count[clear] = 0;
            lowest[clear] = infinity();
            nearest[clear] = infinity();
        }

        // values loaded in the previous step
        Distance low = infinity();
        for (int j = 0; j < prefetched; ++j)
            if (received[j] < infinity()) relax(r, place[j], received[j], following, list ^ 1, low);
        if (thread - (int)lane_id() < blocks) {
            loaded_min = warp_min(loaded_min);
            if (lane_id() == 0 && loaded_min < infinity()) lower(nearest + following, loaded_min);
        }
        if (thread == 0) {
            if (loaded_vote != seen) __threadfence();  // sends before the vote closed are visible from here on
            vote_number[(step + 1) & 1] = loaded_vote;
        }

        // loads for the next step
        for (int j = 0; j < prefetched; ++j)
            received[j] = place[j] >= 0 ? load_relaxed(inbox + first + place[j]) : infinity();
        loaded_min = thread < blocks ? load_relaxed(lows + thread) : infinity();
        for (int i = thread + THREADS; i < blocks; i += THREADS) {
            const Distance d = load_relaxed(lows + i);
            loaded_min = d < loaded_min ? d : loaded_min;
        }
        if (thread == 0) loaded_vote = load_relaxed(vote + 1);

        // the pending vertices
        const bool dense = count > r.capacity;  // some are in no list: scan all
        const int entries = dense ? size : count;
        for (int i = thread / GROUP; i < entries; i += THREADS / GROUP) {
            const int v = dense ? i : (int)r.lists[list * list_capacity + i];
            Distance d = infinity();
            if (lane == 0 && (!dense || Vertex::pending(r, v))) {
                const Distance waiting = Vertex::distance(r, v);
                if (waiting < horizon) d = Vertex::claim(r, v);
                else enlist(r, v, following, list ^ 1), low = waiting < low ? waiting : low;
            }
            d = __shfl_sync(group_mask, d, 0, GROUP);
            if (d > limit) {
                if (d < infinity()) control[overflow] = 1;
                continue;
            }
            int e, last;
            const Arc* from;
            if (LOCAL) e = own_offsets[v], last = own_offsets[v + 1], from = own_arcs;
            else e = __ldg(offsets + first + v), last = __ldg(offsets + first + v + 1), from = arcs;
            for (e += lane; e < last; e += GROUP) {
                const Arc arc = LOCAL ? from[e] : load_arc(from + e);
                const int target = (int)arc.target - first;
                const Distance candidate = d + arc.weight;
                if ((unsigned)target < (unsigned)size) relax(r, target, candidate, following, list ^ 1, low);
                else lower(inbox + arc.target, candidate);
                if (COUNT) ++relaxations;
            }
        }

        // inboxes beyond `prefetched` per thread
        for (int i = thread + prefetched * THREADS; i < receiver_total; i += THREADS) {
            const int v = receivers[i];
            const Distance d = load_relaxed(inbox + first + v);
            if (d < infinity()) relax(r, v, d, following, list ^ 1, low);
        }
        if (__any_sync(full_mask, low < infinity())) {
            low = warp_min(low);
            if (lane_id() == 0) lower(lowest + following, low);
        }
        if (count == 0) pause(20);
    }

    for (int v = thread; v < size; v += THREADS) {
        const Distance d = Vertex::distance(r, v);
        dist[first + v] = d;
    }
    if (COUNT)
        atomicAdd(reinterpret_cast<unsigned long long*>(control + relaxed_word), (unsigned long long)relaxations);
    if (thread == 0) atomicMax(control + steps_word, step);
}
