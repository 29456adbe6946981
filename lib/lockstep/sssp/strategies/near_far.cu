// Shortest paths by work lists in one launch: near-far delta-stepping, arcs spread over lanes.
//
// A round relaxes the vertices of the near list; lowered vertices go to the next near list if they fall below the
// threshold, else to the far list. When the near list is empty the threshold moves delta beyond the smallest distance
// recorded for the far list (a lower bound, as entries go stale), and the far list is split, which takes a round. Where
// lists are short, latency bounds a round: the dependent accesses to entry, arc, distance of the arc's target,
// atomicMin, place in the buffer, place in the list, and the barrier. A round's work depends on the arcs of the near
// list, not on n.
//
// Design
//   - An entry carries the vertex's distance, and is valid if dist[vertex] still equals it when the entry is read: in
//     the next round if it is near, at the next split if it is far. Of equal candidates only one gets a larger value
//     back from its atomicMin, so a vertex has at most one valid entry (or one set of pieces), and no in-list flag is
//     needed.
//   - An entry also carries its arcs' range, read when the vertex was lowered: one dependent load fewer in the chain.
//   - GROUP lanes share an entry. A vertex of more than CHUNK arcs becomes several entries, so that a hub's arcs spread
//     over the whole GPU (R-MAT) while a road vertex takes four lanes.
//   - The load before the atomicMin may hit a stale line of L1: an old distance is never smaller than the present one,
//     so it can only let a useless atomicMin through.
//   - Built with CLUSTER the launch is one cluster of that many blocks and the barrier is the cluster's, in hardware:
//     a fifth of a grid barrier's cost. Roads need thousands of rounds and few threads in each.
//
// References: U. Meyer, P. Sanders, Delta-stepping, J. Algorithms 49 (2003); A. Davidson, S. Baxter, M. Garland,
// J. Owens, Work-efficient parallel GPU methods for single-source shortest paths, IPDPS 2014 (near-far).
// compile: DISTANCE=unsigned,double GROUP=4,8,32 CLUSTER=0 BUFFER=4096
// compile: DISTANCE=unsigned,double GROUP=4,8,32 CLUSTER=8 BUFFER=4096 ARCH>=90
#include "types.cuh"

#ifndef GROUP
#define GROUP 4
#endif
#ifndef CHUNK
#define CHUNK 32  // a power of two costs a shift, not a division; below GROUP lanes would idle
#endif
#ifndef CLUSTER
#define CLUSTER 0
#endif
#ifndef BUFFER
#define BUFFER 1024  // entries that a block collects in a round
#endif
#ifndef COUNT
#define COUNT 0
#endif
#if !CLUSTER && !defined(LOCKSTEP_HOST)
#undef __cluster_dims__
#define __cluster_dims__(...)
#endif

template <class T> struct EntryOf;
template <> struct EntryOf<unsigned> {
    struct alignas(16) Entry { unsigned distance; int vertex, first, last; };
    static __device__ __forceinline__ Entry load(const Entry* p) {
        const uint4 words = __ldcg(reinterpret_cast<const uint4*>(p));
        Entry entry;
        memcpy(&entry, &words, sizeof entry);
        return entry;
    }
};
template <> struct EntryOf<double> {
    struct alignas(8) Entry { double distance; int vertex, first, last; };
    static __device__ __forceinline__ Entry load(const Entry* p) {
        uint2 words[3];
        for (int i = 0; i < 3; ++i) words[i] = __ldcg(reinterpret_cast<const uint2*>(p) + i);
        Entry entry;
        memcpy(&entry, words, sizeof entry);
        return entry;
    }
};
typedef EntryOf<Distance>::Entry Entry;

// control: near_count and far_count are three counters each, in rotation. Round r reads near_count[r % 3], appends to
// the next and clears the third. The rounds of bucket b append to far_count[b % 3]; the split after them reads it,
// appends to the next and clears the third; so does `lowest`. full: 1 + the round in which a list overflowed, 0 if none
// did; a block ends only where full <= round, so that all blocks end in the same round; the host then repeats with
// longer lists. overflow: an entry, perhaps a stale one, exceeds `limit`, so a sum might exceed its type. relaxed: 64
// bits.
constexpr int near_count = 0, far_count = 3, full = 6, overflow = 7, rounds = 8, buckets = 9, relaxed = 10, words = 16;

__device__ __forceinline__ void round_barrier(unsigned* barrier) {
#if CLUSTER && !defined(LOCKSTEP_HOST)
    (void)barrier;
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
    grid_barrier(barrier);
#endif
}

// Appends the entries of a warp's lanes to a list in global memory; all lanes must call it. One atomic per warp, unless
// a lane's entry is a hub.
__device__ __forceinline__ void append(bool has_entry, Entry entry, Entry* list, int* count, int capacity, int* control,
                                       int round) {
    const unsigned mask = __ballot_sync(full_mask, has_entry);
    if (!mask) return;
    if (!__any_sync(full_mask, has_entry && entry.last - entry.first > CHUNK)) {
        const int leader = __ffs((int)mask) - 1;
        int place = 0;
        if ((int)lane_id() == leader) place = atomicAdd(count, __popc(mask));
        place = __shfl_sync(full_mask, place, leader) + rank_in(mask);
        if (has_entry) {
            if ((unsigned)place < (unsigned)capacity) list[place] = entry;  // unsigned: a count past 2^31 fails, too
            else store_relaxed(control + full, round + 1);
        }
    } else if (has_entry) {
        const int pieces = (entry.last - entry.first + CHUNK - 1) / CHUNK, last = entry.last;
        int place = atomicAdd(count, pieces);
        if ((unsigned)place > (unsigned)(capacity - pieces) || pieces > capacity) {
            store_relaxed(control + full, round + 1);
            return;
        }
        for (; entry.first < last; entry.first += CHUNK, ++place) {
            entry.last = min(entry.first + CHUNK, last);
            list[place] = entry;
        }
    }
}

// Appends near entries to the block's buffer in shared memory, which is flushed to the list at the end of the round:
// one atomic on the length of the list per block. With one per warp, the atomics of thousands of warps serialize on one
// address, which takes 1.4 G a second (H200, study 0). Entries that do not fit into the buffer are appended to the list
// directly.
__device__ __forceinline__ void collect(bool has_entry, Entry entry, Entry* buffer, int* used, Entry* list, int* count,
                                        int capacity, int* control, int round) {
    const unsigned mask = __ballot_sync(full_mask, has_entry);
    if (!mask) return;
    const int pieces = has_entry ? (entry.last - entry.first + CHUNK - 1) / CHUNK : 0;
    int place = BUFFER;
    if (!__any_sync(full_mask, pieces > 1)) {
        const int leader = __ffs((int)mask) - 1;
        if ((int)lane_id() == leader) place = atomicAdd(used, __popc(mask));
        place = __shfl_sync(full_mask, place, leader) + rank_in(mask);
    } else if (has_entry) {
        place = atomicAdd(used, pieces);
    }
    const bool fits = place + pieces <= BUFFER;
    // pieces that do not all fit get an empty arc range, which the next round skips; the entry is appended
    if (has_entry)
        for (int i = 0, first = entry.first; place + i < BUFFER && i < pieces; ++i, first += CHUNK)
            buffer[place + i] = fits ? Entry{entry.distance, entry.vertex, first, min(first + CHUNK, entry.last)}
                                     : Entry{entry.distance, entry.vertex, 0, 0};
    if (__any_sync(full_mask, has_entry && !fits))
        append(has_entry && !fits, entry, list, count, capacity, control, round);
}

// queue: two near lists and two far lists of `capacity` entries each, both pairs alternating. lowest: 3 distances.
// limit: the largest distance to which an arc can be added. Shared memory: BUFFER entries, two ints. COUNT:
// relaxations, too.
extern "C" __global__ void __launch_bounds__(1024) __cluster_dims__(CLUSTER, 1, 1)
near_far(const int* __restrict__ offsets, const Arc* __restrict__ arcs, int n, int source, DISTANCE delta,
         DISTANCE limit, DISTANCE* dist, Entry* queue, int capacity, int* control, DISTANCE* lowest,
         unsigned* barrier) {
    DYNAMIC_SHARED(unsigned char, memory);
    Entry* const buffer = (Entry*)memory;
    int* const used = (int*)(buffer + BUFFER);  // {entries in the buffer, their place in the list}
    if (threadIdx.x == 0) *used = 0;
    constexpr int groups = 32 / GROUP;
    const int warps = (int)(global_threads() / 32), warp = (int)(global_thread() / 32);
    const int lane = (int)lane_id() % GROUP, group = (int)lane_id() / GROUP;
    Entry* const near_lists = queue;
    Entry* const far_lists = queue + 2 * (size_t)capacity;

    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads())
        dist[v] = (int)v == source ? Distance(0) : infinity();
    if (global_thread() == 0) {
        for (int i = 0; i < words; ++i) control[i] = 0;
        for (int i = 0; i < 3; ++i) lowest[i] = infinity();
        int place = 0;
        for (int e = offsets[source]; e < offsets[source + 1]; e += CHUNK)
            near_lists[place++] = Entry{0, source, e, min(e + CHUNK, offsets[source + 1])};
        control[near_count] = place;
    }
    round_barrier(barrier);

    Distance threshold = sum(0, delta);
    int round = 0, bucket = 0;
    long long relaxations = 0;
    for (;; ++round) {
        const int entries = load_relaxed(control + near_count + round % 3);
        Entry* const next = near_lists + ((round + 1) & 1) * (size_t)capacity;
        int* const next_count = control + near_count + (round + 1) % 3;
        if (global_thread() == 0) store_relaxed(control + near_count + (round + 2) % 3, 0);
        const int full_round = load_relaxed(control + full);
        // A list overflowed in an earlier round. Blocks may read different values here, but decide alike: see `full`.
        if (full_round && full_round <= round) break;
        // The next bucket: split the far list. If all entries below the threshold are stale, the next round splits
        // again, by a higher threshold, since `lowest` is then of the entries kept, and sum(a, delta) > a.
        if (entries == 0) {
            const int far_size = load_relaxed(control + far_count + bucket % 3);
            const Distance smallest = load_relaxed(lowest + bucket % 3);
            if (far_size == 0 || smallest >= infinity()) break;
            threshold = sum(smallest, delta);
            const Entry* const far = far_lists + (bucket & 1) * (size_t)capacity;
            Entry* const kept = far_lists + ((bucket + 1) & 1) * (size_t)capacity;
            int* const kept_count = control + far_count + (bucket + 1) % 3;
            Distance far_min = infinity();
            for (int base = warp * 32; base < far_size; base += warps * 32) {
                const int i = base + (int)lane_id();
                Entry e = {};
                bool valid = false;
                if (i < far_size) {
                    e = EntryOf<Distance>::load(far + i);
                    valid = load_relaxed(dist + e.vertex) == e.distance;
                }
                const bool is_near = valid && e.distance < threshold;
                append(is_near, e, next, next_count, capacity, control, round);
                append(valid && !is_near, e, kept, kept_count, capacity, control, round);
                if (valid && !is_near) far_min = e.distance < far_min ? e.distance : far_min;
            }
            far_min = warp_min(far_min);
            if (lane_id() == 0 && far_min < infinity()) lower(lowest + (bucket + 1) % 3, far_min);
            if (global_thread() == 0) {  // the counter that the split before this one read, and the next one writes
                store_relaxed(control + far_count + (bucket + 2) % 3, 0);
                store_relaxed(lowest + (bucket + 2) % 3, infinity());
            }
            round_barrier(barrier);
            ++bucket;
            continue;
        }
        const Entry* const list = near_lists + (round & 1) * (size_t)capacity;
        Entry* const far = far_lists + (bucket & 1) * (size_t)capacity;
        int* const far_counter = control + far_count + bucket % 3;
        Distance far_min = infinity();
        for (int base = warp * groups; base < entries; base += warps * groups) {
            Entry e = {};
            Arc next_arc = {};
            int at = 0, last = 0;
            if (base + group < entries) {
                e = EntryOf<Distance>::load(list + base + group);
                at = e.first + lane, last = e.last;
                const Distance present = load_relaxed(dist + e.vertex);
                if (at < last) next_arc = load_arc(arcs + at);  // in flight while the entry is checked
                if (present != e.distance) last = 0;
                if (e.distance > limit) {
                    control[overflow] = 1;
                    last = 0;
                }
            }
            while (__any_sync(full_mask, at < last)) {
                bool enqueue = false;  // the arc's target was lowered, and has arcs
                Entry new_entry = {};
                if (at < last) {
                    const Arc arc = next_arc;
                    if (at + GROUP < last) next_arc = load_arc(arcs + at + GROUP);
                    const Distance candidate = e.distance + arc.weight;
                    // At low degree most relaxations succeed: the row bounds of the arc's target are loaded together
                    // with its distance, before the comparison.
                    int first_arc, last_arc;
                    if (GROUP <= 4) first_arc = __ldg(offsets + arc.target), last_arc = __ldg(offsets + arc.target + 1);
                    if (candidate < dist[arc.target]) {
                        if (GROUP > 4)
                            first_arc = __ldg(offsets + arc.target), last_arc = __ldg(offsets + arc.target + 1);
                        enqueue = candidate < lower(dist + arc.target, candidate) && first_arc < last_arc;
                        new_entry = Entry{candidate, (int)arc.target, first_arc, last_arc};
                    }
                    if (COUNT) ++relaxations;
                }
                at += GROUP;
                const bool is_near = enqueue && new_entry.distance < threshold;
                collect(is_near, new_entry, buffer, used, next, next_count, capacity, control, round);
                if (__any_sync(full_mask, enqueue && !is_near)) {
                    append(enqueue && !is_near, new_entry, far, far_counter, capacity, control, round);
                    if (enqueue && !is_near) far_min = new_entry.distance < far_min ? new_entry.distance : far_min;
                }
            }
        }
        if (__any_sync(full_mask, far_min < infinity())) {
            far_min = warp_min(far_min);
            if (lane_id() == 0) lower(lowest + bucket % 3, far_min);
        }
        __syncthreads();
        const int collected = min(*used, BUFFER);
        if (collected > 0) {
            if (threadIdx.x == 0) used[1] = atomicAdd(next_count, collected);
            __syncthreads();
            for (int i = (int)threadIdx.x; i < collected; i += (int)blockDim.x) {
                if (used[1] + i < capacity) next[used[1] + i] = buffer[i];
                else store_relaxed(control + full, round + 1);
            }
            if (threadIdx.x == 0) *used = 0;
        }
        round_barrier(barrier);
    }
    if (COUNT) atomicAdd(reinterpret_cast<unsigned long long*>(control + relaxed), (unsigned long long)relaxations);
    if (global_thread() == 0) control[rounds] = round, control[buckets] = bucket + 1;
}
