// Asynchronous shortest paths: each block owns a range of vertices, holds their distances in shared memory (with
// STATE_IN_GLOBAL in global memory) and iterates without grid barriers.
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
//            redundant or deferred relaxations, never a wrong result. Deferring ends: a block publishes its minimum,
//            deferred vertices included, at every step at which it changed, so the smallest of all becomes known and,
//            as sum(a, delta) > a, lies below its own block's horizon. This is delta-stepping with a sliding bucket.
//   end      A block without pending vertices votes. When all have voted, the vote closes and the next one opens; a
//            block votes again after it has reread its inboxes and found nothing. A vote in which no block reports
//            work since the previous vote ends the run: all values were sent before that previous vote (a fence
//            precedes each), and every block has since reread its inboxes without a change.
//            Thread 0 reads in step s - 1 that a vote has closed, and fences. The block sees it in step s, whose loads
//            of inboxes thus follow the fence; they are applied in step s + 1, and step s + 2 sees whether they
//            changed anything.
//
// narrow: a vertex's word is distance << 1 | pending, so that one atomicMin lowers the distance and sets the flag;
// wide: the flags are a bit array. A list that overflows makes the next step scan all vertices (dense); that step may
// list a vertex twice, which costs a visit per step, since `claim` returns it once.
//
// Best where most arcs stay inside a range of ids: road networks with spatial ids. Correct on any graph,
// in ranges of at most 65,535 vertices: lists hold 16-bit ids.
//
// References: optimistic execution (here without rollback): D. Jefferson, Virtual time, TOPLAS 1985; two-wave
// termination: F. Mattern, Algorithms for distributed termination detection, Distributed Computing 2 (1987).
// compile: DISTANCE=unsigned,double GROUP=4 THREADS=512,1024 ARCS_IN_SHARED=0,1
// compile: DISTANCE=unsigned GROUP=4 THREADS=512,1024 ARCS_IN_SHARED=0 STATE_IN_GLOBAL=1
// compile: DISTANCE=double GROUP=4 THREADS=512 ARCS_IN_SHARED=0 STATE_IN_GLOBAL=1
#include "types.cuh"

#ifndef GROUP
#define GROUP 4  // lanes that share a vertex's arcs
#endif
#ifndef THREADS
#define THREADS 256
#endif
#ifndef ARCS_IN_SHARED
#define ARCS_IN_SHARED 0  // 1: the range's arcs and offsets are copied to shared memory
#endif

#ifndef STATE_IN_GLOBAL
#define STATE_IN_GLOBAL 0  // 1: the range exceeds shared memory and lies in global memory: slower
#endif

constexpr unsigned finished = 0xffffffffu;
constexpr int prefetched = 4;                       // inboxes per thread whose loads are issued one step ahead
constexpr int overflow = 0, steps_word = 1, relaxed_word = 2;  // control words; relaxed counts only with COUNT
#ifndef COUNT
#define COUNT 0
#endif

// A block's state in shared (STATE_IN_GLOBAL: global) memory.
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
    // The distance of a pending vertex; infinity if it is not pending.
    static __device__ __forceinline__ unsigned pending_distance(const Range& r, int v) {
        const unsigned word = *(volatile const unsigned*)(r.state + v);
        return word & 1u ? word >> 1 : infinity();
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
    static __device__ __forceinline__ double pending_distance(const Range& r, int v) {
        const bool pending = *(volatile const unsigned*)(r.pending + (v >> 5)) >> (v & 31) & 1u;
        return pending ? distance(r, v) : (double)infinity();
    }
    // Distance before bit here, bit before distance in `claim`, so that whoever claims a vertex reads the distance that
    // the bit announces. A block's accesses to shared memory are performed in program order; those to global memory
    // need the fence.
    static __device__ __forceinline__ void fence() {
        if (STATE_IN_GLOBAL) __threadfence_block();
    }
    static __device__ __forceinline__ int lower_and_mark(const Range& r, int v, double d) {
        if (lower(r.state + v, (Distance)d) <= d) return 0;
        fence();
        const unsigned bit = 1u << (v & 31);
        return atomicOr(r.pending + (v >> 5), bit) & bit ? 1 : 2;
    }
    static __device__ __forceinline__ double claim(const Range& r, int v) {
        const unsigned bit = 1u << (v & 31);
        if (!(atomicAnd(r.pending + (v >> 5), ~bit) & bit)) return (double)infinity();
        fence();
        return distance(r, v);
    }
};
typedef State<Distance> Vertex;

__device__ __forceinline__ void enlist(const Range& r, int v, int slot, int list) {
    const int index = atomicAdd(r.count + slot, 1);
    if (index < r.capacity) r.lists[list * r.capacity + index] = (unsigned short)v;
}

// Lowers vertex v of the range and appends it to the list unless it is already pending.
__device__ __forceinline__ void relax(const Range& r, int v, Distance d, int slot, int list, Distance& lane_minimum) {
    if (d >= Vertex::distance(r, v)) return;
    const int change = Vertex::lower_and_mark(r, v, d);
    if (change == 0) return;
    lane_minimum = d < lane_minimum ? d : lane_minimum;
    if (change == 2) enlist(r, v, slot, list);
}

// A block owns `range` vertices. inbox, receives: a value and a flag for each vertex; block_minima: a value a block.
// vote[0]: votes, and in the upper 16 bits those of blocks that had work; vote[1]: number of the open vote. local_arcs:
// most arcs of a range (ARCS_IN_SHARED). limit: see types.cuh. global_state: `stride` bytes a block (STATE_IN_GLOBAL).
extern "C" __global__ void __launch_bounds__(THREADS)
asynchronous(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n, int source, int range,
             int local_arcs, int list_capacity, DISTANCE delta, DISTANCE limit, DISTANCE* inbox, int* receives,
             DISTANCE* block_minima, unsigned* vote, int* control, DISTANCE* dist, unsigned* barrier,
             unsigned char* global_state, long long stride) {
#if STATE_IN_GLOBAL
    unsigned char* const memory = global_state + stride * blockIdx.x;
#else
    DYNAMIC_SHARED(unsigned char, memory);
#endif
    const int thread = (int)threadIdx.x, blocks = (int)gridDim.x, block = (int)blockIdx.x;
    const int first = min(block * range, n), size = min(range, n - first);

    // ---- memory layout of the block
    Range r;
    unsigned char* next = memory;
    r.state = (Distance*)next, next += sizeof(Distance) * (size_t)range;
    next = memory + (((size_t)(next - memory) + 15) & ~(size_t)15);
    Arc* const own_arcs = (Arc*)next;
    if (ARCS_IN_SHARED) next += sizeof(Arc) * (size_t)local_arcs;
    Distance* const own_minimum = (Distance*)next;  // [3] smallest pending distance of the block
    next += 4 * sizeof(Distance);
    Distance* const global_minimum = (Distance*)next;  // [3] smallest pending distance of all blocks, possibly stale
    next += 4 * sizeof(Distance);
    r.count = (int*)next, next += 4 * sizeof(int);
    unsigned* const vote_number = (unsigned*)next;
    next += 2 * sizeof(unsigned);
    int* const inbox_count = (int*)next;
    next += 2 * sizeof(int);
    int* const own_offsets = (int*)next;
    if (ARCS_IN_SHARED) next += sizeof(int) * (size_t)(range + 1);
    r.pending = (unsigned*)next;
    if (!Traits::narrow) next += sizeof(unsigned) * (size_t)((range + 31) / 32);
    r.lists = (unsigned short*)next;
    r.capacity = list_capacity;

    // ---- start: distances and inboxes; then flags of vertices that other blocks send to; then their list
    for (int v = thread; v < size; v += THREADS) {
        r.state[v] = Vertex::start(first + v == source);
        inbox[first + v] = infinity();
        receives[first + v] = 0;
    }
    if (!Traits::narrow)
        for (int i = thread; i < (range + 31) / 32; i += THREADS) r.pending[i] = 0;
    const int base = size > 0 ? offsets[first] : 0, end = size > 0 ? offsets[first + size] : 0;
    if (ARCS_IN_SHARED) {
        for (int v = thread; v <= size && size > 0; v += THREADS) own_offsets[v] = offsets[first + v] - base;
        for (int e = thread; e < end - base; e += THREADS) own_arcs[e] = load_arc(arcs + base + e);
    }
    if (thread == 0) {
        for (int i = 0; i < 3; ++i) r.count[i] = 0, own_minimum[i] = global_minimum[i] = infinity();
        *inbox_count = 0;
        global_minimum[0] = 0;  // stands for the source: the first horizon is delta
        vote_number[0] = vote_number[1] = 0;
        store_relaxed(block_minima + block, infinity());
        if (block == 0)
            store_relaxed(vote, 0u), store_relaxed(vote + 1, 0u), control[overflow] = 0, control[steps_word] = 0;
    }
    grid_barrier(barrier);
    for (int e = base + thread; e < end; e += THREADS) {
        const int target = (int)load_arc(arcs + e).target;
        if ((unsigned)(target - first) >= (unsigned)size) store_relaxed(receives + target, 1);
    }
    if (thread == 0 && (unsigned)(source - first) < (unsigned)size) {
        if (!Traits::narrow) r.pending[(source - first) >> 5] = 1u << ((source - first) & 31);
        r.lists[0] = (unsigned short)(source - first);
        r.count[0] = 1;
        own_minimum[0] = 0;
    }
    grid_barrier(barrier);
    int* const inbox_list = (int*)(dist + first);  // `dist` holds this list until the results are written
    for (int v0 = 0; v0 < size; v0 += THREADS) {
        const int v = v0 + thread;
        if (v < size && load_relaxed(receives + first + v)) inbox_list[atomicAdd(inbox_count, 1)] = v;
    }
    __syncthreads();
    const int inbox_total = *(volatile const int*)inbox_count;
    int inbox_vertex[prefetched];
    for (int j = 0; j < prefetched; ++j)
        inbox_vertex[j] = thread + j * THREADS < inbox_total ? inbox_list[thread + j * THREADS] : -1;

    // ---- steps
    const int lane = thread % GROUP;
    const unsigned group_mask = GROUP == 32 ? full_mask : ((1u << GROUP) - 1) << ((int)lane_id() - lane);
    bool active = true, voted = false;
    unsigned own_vote = 0;
    int step = 0, vote_opened = -2;
    Distance inbox_value[prefetched], loaded_min = 0;  // loads issued in the previous step; 0: of the source
    unsigned loaded_vote = 0;
    for (int j = 0; j < prefetched; ++j) inbox_value[j] = infinity();
    long long relaxations = 0;
    Distance published = infinity();  // what thread 0 has published
    for (;; ++step) {
        __syncthreads();
        const int slot = step % 3, next_slot = (step + 1) % 3, list = step & 1;
        const int count = *(volatile const int*)(r.count + slot);
        const Distance nearest = *(volatile const Distance*)(global_minimum + slot),
            horizon = nearest < infinity() ? sum(nearest, delta) : nearest;
        const unsigned open_vote = *(volatile const unsigned*)(vote_number + (step & 1));
        if (open_vote == finished) break;
        if (voted && open_vote != own_vote) own_vote = open_vote, voted = false, vote_opened = step;
        if (count > 0) active = true;
        else if (!voted && step >= vote_opened + 2) {  // inboxes loaded after the fence hold nothing new
            __threadfence();
            __syncthreads();
            if (thread == 0) {
                __threadfence();  // cumulativity: covers the sends of the block's other threads before the barrier
                const unsigned old = atomicAdd(vote, 1u + (active ? 0x10000u : 0u));
                if ((old & 0xffffu) == (unsigned)blocks - 1) {
                    const bool quiet = !active && (old >> 16) == 0;
                    store_relaxed(vote, 0u);
                    __threadfence();  // acquires what the other voters released; the store passes it on, and the 0
                    store_release(vote + 1, quiet ? finished : own_vote + 1);
                }
            }
            voted = true;
            active = false;
        }
        if (thread == 0) {
            const Distance now = *(volatile const Distance*)(own_minimum + slot);
            if (now != published) store_relaxed(block_minima + block, now), published = now;
            const int slot_to_clear = (step + 2) % 3;
            r.count[slot_to_clear] = 0;
            own_minimum[slot_to_clear] = infinity();
            global_minimum[slot_to_clear] = infinity();
        }

        // values loaded in the previous step
        Distance lane_minimum = infinity();
        for (int j = 0; j < prefetched; ++j)
            if (inbox_value[j] < infinity())
                relax(r, inbox_vertex[j], inbox_value[j], next_slot, list ^ 1, lane_minimum);
        if (thread - (int)lane_id() < blocks) {
            loaded_min = warp_min(loaded_min);
            if (lane_id() == 0 && loaded_min < infinity()) lower(global_minimum + next_slot, loaded_min);
        }
        if (thread == 0) {
            if (loaded_vote != open_vote) __threadfence();  // sends before the vote closed are visible from here on
            vote_number[(step + 1) & 1] = loaded_vote;
        }

        // loads for the next step
        for (int j = 0; j < prefetched; ++j)
            inbox_value[j] = inbox_vertex[j] >= 0 ? load_relaxed(inbox + first + inbox_vertex[j]) : infinity();
        loaded_min = thread < blocks ? load_relaxed(block_minima + thread) : infinity();
        for (int i = thread + THREADS; i < blocks; i += THREADS) {
            const Distance d = load_relaxed(block_minima + i);
            loaded_min = d < loaded_min ? d : loaded_min;
        }
        if (thread == 0) loaded_vote = load_relaxed(vote + 1);

        // the pending vertices
        const bool dense = count > r.capacity;  // some are in no list: scan all
        const int entries = dense ? size : count;
        for (int i = thread / GROUP; i < entries; i += THREADS / GROUP) {
            const int v = dense ? i : (int)r.lists[list * list_capacity + i];
            Distance d = infinity();
            if (lane == 0) {
                const Distance pending = Vertex::pending_distance(r, v);
                if (pending < horizon) {
                    d = Vertex::claim(r, v);
                } else if (pending < infinity()) {
                    enlist(r, v, next_slot, list ^ 1);
                    lane_minimum = pending < lane_minimum ? pending : lane_minimum;
                }
            }
            d = __shfl_sync(group_mask, d, 0, GROUP);
            if (d > limit) {
                if (d < infinity()) control[overflow] = 1;
                continue;
            }
            int e, last;
            const Arc* arc_list;
            if (ARCS_IN_SHARED) e = own_offsets[v], last = own_offsets[v + 1], arc_list = own_arcs;
            else e = __ldg(offsets + first + v), last = __ldg(offsets + first + v + 1), arc_list = arcs;
            for (e += lane; e < last; e += GROUP) {
                const Arc arc = ARCS_IN_SHARED ? arc_list[e] : load_arc(arc_list + e);
                const int target = (int)arc.target - first;
                const Distance candidate = d + arc.weight;
                if ((unsigned)target < (unsigned)size) relax(r, target, candidate, next_slot, list ^ 1, lane_minimum);
                else send(inbox + arc.target, candidate);
                if (COUNT) ++relaxations;
            }
        }

        // inboxes beyond `prefetched` per thread
        for (int i = thread + prefetched * THREADS; i < inbox_total; i += THREADS) {
            const int v = inbox_list[i];
            const Distance d = load_relaxed(inbox + first + v);
            if (d < infinity()) relax(r, v, d, next_slot, list ^ 1, lane_minimum);
        }
        if (__any_sync(full_mask, lane_minimum < infinity())) {
            lane_minimum = warp_min(lane_minimum);
            if (lane_id() == 0) lower(own_minimum + next_slot, lane_minimum);
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
