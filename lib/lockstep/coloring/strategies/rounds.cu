// Colors a graph in rounds: in each round the vertices that are a maximum among their uncolored neighbors are colored.
//
// Two rules of the slides and a third one differ in what is compared:
//     RANDOM    random numbers: one maximum at least in any graph, so this always ends;
//     DEGREE    degrees, and v must exceed every uncolored neighbor. Of two equal neighbors neither is "the only local
//               maximum", so a round may color nothing; the host then goes on with random numbers;
//     LARGEST   classes of degree, random numbers inside a class: largest degree first, and always ends
//               (Hasenplaugh et al. 2014).
// The slides give each round a color of its own (SMALLEST=0). SMALLEST=1 takes the smallest color that no neighbor has,
// which is what keeps colors few: the same independent sets, but colors are used again.
//
// A vertex colored in the present round still counts as uncolored for its neighbors (`stamp` holds the round), so the
// result does not depend on the interleaving. In each round a lane reads the whole row of an uncolored vertex
// (BINS=1: see below): this is the load imbalance that the slides address. WORK=1 records these reads for each warp,
// without those for the smallest free color.
//
// Kernels: `one_round`, a launch a round, the host in between; `stealing`, the same with persistent workgroups (blocks,
// in the slides' OpenCL terms) that take chunks of vertices from queues; `resident`, all rounds in one cooperative
// launch, with BINS=1 a warp for each vertex of degree 30 and more.
//
// References: S. Che, G. Rodgers, B. Beckmann, S. Reinhardt, "Graph coloring on the GPU and some techniques to improve
// load imbalance" (slides; the seed of this study). D. Cederman, P. Tsigas, "Dynamic load balancing using
// work-stealing", GPU Computing Gems Jade (2011). M. Jones, P. Plassmann, SIAM J. Sci. Comput. 14 (1993).
//
// compile: SMALLEST=0,1 WORK=0,1
// compile: SMALLEST=0 WORK=0,1 STEAL=0
// compile: SMALLEST=0 WORK=0,1 QUEUE=0
// compile: SMALLEST=1 WORK=0 BINS=1
#include "device.cuh"
#include "priority.cuh"

#ifndef BINS
#define BINS 0
#endif
#ifndef QUEUE
#define QUEUE 1  // 0: each workgroup goes through its own chunks, without a queue
#endif
#ifndef STEAL
#define STEAL 1  // 0: queues without stealing
#endif

enum { RANDOM, DEGREE, LARGEST };
// what a round reports, in progress[SLOT * (round % SLOTS) + ...]
enum { COLORED, HIGHEST, SLOT, SLOTS = 4096 };
enum { POPS, STEALS, CAS_FAILURES, PROBES };                     // event counts of the queues, in `traffic`
constexpr int many = 30;                                // from this degree on a vertex takes a warp (BINS)

struct Input {
    const int* offsets;
    const int* targets;
    unsigned seed;
    int rule;
    int round;
    int color;
    int* colors;  // -1: none yet
    int* stamp;   // round in which it was colored, -1: none yet
};

__device__ __forceinline__ int degree(const Input& in, int v) { return in.offsets[v + 1] - in.offsets[v]; }

// Whether the uncolored neighbor u keeps v from being a maximum. tied: set if by degree neither of them can ever be
// one.
__device__ __forceinline__ bool dominates(const Input& in, int u, int v, int size, unsigned hash_v, bool& tied) {
    if (in.rule == RANDOM) return priority_hash(u, in.seed) > hash_v;
    if (in.rule == DEGREE) {
        const int degree_u = degree(in, u);
        tied |= degree_u == size;
        return degree_u >= size;
    }
    const int class_u = degree_class(degree(in, u)), class_v = degree_class(size);
    return class_u != class_v ? class_u > class_v : priority_hash(u, in.seed) > hash_v;
}

// Reads what other threads write. With a launch a round a stale value from L1 is harmless: a vertex that had no color
// when the launch began counts as uncolored until it ends. With several rounds in one launch (RESIDENT) the load must
// go to L2.
template <bool RESIDENT> __device__ __forceinline__ int peek(const int* p) { return RESIDENT ? load_relaxed(p) : *p; }

template <bool RESIDENT> __device__ __forceinline__ bool uncolored(const Input& in, int u) {
    const int when = peek<RESIDENT>(in.stamp + u);
    return when < 0 || when == in.round;
}

// The smallest color that no neighbor has, 64 at a time. v is a maximum, so no neighbor is colored in this round: all
// colors that are read are of earlier rounds.
template <bool RESIDENT> __device__ int smallest_free(const Input& in, int v) {
    for (int low = 0;; low += 64) {
        unsigned long long taken = 0;
        for (int j = in.offsets[v]; j < in.offsets[v + 1]; ++j) {
            const int color = peek<RESIDENT>(in.colors + in.targets[j]) - low;
            if (color >= 0 && color < 64) taken |= 1ull << color;
        }
        for (int i = 0; i < 2; ++i) {
            const unsigned half = static_cast<unsigned>(taken >> (32 * i));
            if (half != full_mask) return low + 32 * i + __ffs(~half) - 1;
        }
    }
}

struct Visit {
    bool was_active, colored, tied;
    int read;  // neighbors looked at
};

// One lane decides about v.
template <bool RESIDENT> __device__ __forceinline__ Visit visit(const Input& in, int v, int n) {
    Visit out = {false, false, false, 0};
    if (v >= n || peek<RESIDENT>(in.stamp + v) >= 0) return out;
    out.was_active = true;
    const int first = in.offsets[v], size = degree(in, v);
    const unsigned hash_v = priority_hash(v, in.seed);
    bool maximum = true;
    // Four at a time with the next four prefetched, so that loads overlap in every kernel, not just in those where the
    // compiler can prove it legal.
    int u[4], next[4];
    for (int k = 0; k < 4; ++k) next[k] = size ? in.targets[first + min(k, size - 1)] : v;
    for (int j = 0; j < size; j += 4) {
        bool is_uncolored[4];
        for (int k = 0; k < 4; ++k) u[k] = next[k];
        if (j + 4 < size)
            for (int k = 0; k < 4; ++k) next[k] = in.targets[first + min(j + 4 + k, size - 1)];
        for (int k = 0; k < 4; ++k) is_uncolored[k] = uncolored<RESIDENT>(in, u[k]);
        for (int k = 0; k < 4; ++k)
            if (is_uncolored[k] && dominates(in, u[k], v, size, hash_v, out.tied)) maximum = false;
    }
    out.read = size;
    if (maximum) {
        store_relaxed(in.colors + v, SMALLEST ? smallest_free<RESIDENT>(in, v) : in.color);
        store_relaxed(in.stamp + v, in.round);
        out.colored = true;
    }
    return out;
}

// Sum (or maximum) over the warp, in lane 0.
__device__ __forceinline__ int warp_sum(int x) {
    for (int d = 16; d; d /= 2) x += __shfl_down_sync(full_mask, x, d);
    return x;
}
__device__ __forceinline__ int warp_max(int x) {
    for (int d = 16; d; d /= 2) x = max(x, __shfl_down_sync(full_mask, x, d));
    return x;
}

// Adds a block's counts to the round's report. With `watch` also the maximum over the uncolored vertices of twice the
// degree, plus 1 if the vertex is tied: if a vertex of highest degree is tied, no round by degree can color it, and the
// highest degree stays.
__device__ __forceinline__ void report(const Visit& seen, int watch, unsigned* progress) {
    const int colored = __syncthreads_count(seen.colored);
    if (block_thread() == 0 && colored) atomicAdd(progress + COLORED, static_cast<unsigned>(colored));
    if (!watch) return;
    const int highest = warp_max(seen.was_active && !seen.colored ? 2 * seen.read + seen.tied : 0);
    // After the first warps' atomics hardly any changes the maximum: one from each would serialize on one word.
    if (lane_id() == 0 && static_cast<unsigned>(highest) > load_relaxed(progress + HIGHEST))
        atomicMax(progress + HIGHEST, static_cast<unsigned>(highest));
}

// Adds up the reads in four words a warp: [0] of all its lanes; [1] of its busiest lane, summed over the chunks (the
// warp's time); [2] the largest of these; [3] in the workgroup's first warp, of the workgroup's busiest lane, summed
// over the chunks. busiest: a word of shared memory.
__device__ __forceinline__ void record_reads(int read, int* work, unsigned* busiest) {
    int* mine = work + 4 * (global_thread() / 32);
    const int sum = warp_sum(read), most = warp_max(read);
    if (threadIdx.x == 0) *busiest = 0;
    __syncthreads();
    if (lane_id() == 0) {
        mine[0] += sum;
        mine[1] += most;
        mine[2] = max(mine[2], most);
        atomicMax(busiest, static_cast<unsigned>(most));
    }
    __syncthreads();
    if (threadIdx.x == 0) mine[3] += static_cast<int>(*busiest);
}

extern "C" __global__ void one_round(const int* __restrict__ offsets, const int* __restrict__ targets, int n,
                                     unsigned seed, int rule, int round, int color, int watch, int* colors, int* stamp,
                                     unsigned* progress, int* work) {
    const Input in = {offsets, targets, seed, rule, round, color, colors, stamp};
    DYNAMIC_SHARED(unsigned, shared);
    const Visit seen = visit<false>(in, global_thread(), n);
    report(seen, watch, progress + SLOT * (round % SLOTS));
    if (WORK) record_reads(seen.read, work, shared + 1);
}

// A queue is one word: the first remaining chunk, within the workgroup's share, and (upper half) one past the last.
// Taking from either end is one compare-and-swap. Nothing is inserted during a round, so an equal word means the same
// chunks: no ABA problem.
__device__ __forceinline__ int take(unsigned* queue, bool own, int* counted) {
    for (;;) {
        const unsigned seen = load_relaxed(queue), head = seen & 0xffffu, tail = seen >> 16;
        ++counted[PROBES];
        if (head >= tail) return -1;
        const unsigned next = own ? seen - 0x10000u : seen + 1u;
        if (atomicCAS(queue, seen, next) == seen) {
            ++counted[own ? POPS : STEALS];
            return own ? tail - 1 : head;
        }
        ++counted[CAS_FAILURES];
    }
}

// The first chunk of a workgroup's share.
__device__ __forceinline__ int share_of(int group, int groups, int chunks) {
    return static_cast<int>(static_cast<long long>(group) * chunks / groups);
}

// queues: two sets of gridDim.x + 1 words, for odd and even rounds: a queue for each workgroup, and how many chunks
// have been taken from all, which lets idle workgroups terminate. This round's are full; a workgroup fills its own of
// the next round.
extern "C" __global__ void stealing(const int* __restrict__ offsets, const int* __restrict__ targets, int n,
                                    unsigned seed, int rule, int round, int color, int watch, int* colors, int* stamp,
                                    unsigned* progress, int* work, unsigned* queues, unsigned* traffic) {
    DYNAMIC_SHARED(unsigned, shared);
    const Input in = {offsets, targets, seed, rule, round, color, colors, stamp};
    const int groups = gridDim.x, me = blockIdx.x, chunks = (n + blockDim.x - 1) / blockDim.x;
    unsigned* now = queues + (round & 1) * (groups + 1);
    unsigned* later = queues + (1 - (round & 1)) * (groups + 1);
    int counted[4] = {0, 0, 0, 0};
    const int first = share_of(me, groups, chunks), mine = share_of(me + 1, groups, chunks) - first;
    int victim = me, step = 0;
    if (threadIdx.x == 0) {
        store_relaxed(later + me, static_cast<unsigned>(mine) << 16);
        if (me == 0) store_relaxed(later + groups, 0u);
    }
    for (;;) {
        if (threadIdx.x == 0) {
            int chunk = -1;
            if (QUEUE) {
                while ((chunk = take(now + victim, victim == me, counted)) < 0) {
                    // The next workgroup in cyclic order; a thief keeps its victim until that queue is empty too.
                    if (!STEAL || load_relaxed(now + groups) == static_cast<unsigned>(chunks)) break;
                    victim = victim + 1 == groups ? 0 : victim + 1;
                }
                if (STEAL && chunk >= 0) atomicAdd(now + groups, 1u);
            } else if (step < mine) {
                chunk = step++;
            }
            shared[0] = chunk < 0 ? full_mask : share_of(victim, groups, chunks) + chunk;
        }
        __syncthreads();
        const int chunk = static_cast<int>(shared[0]);
        if (chunk < 0) break;
        const Visit seen = visit<false>(in, chunk * blockDim.x + threadIdx.x, n);
        report(seen, watch, progress + SLOT * (round % SLOTS));  // has a block barrier: shared[0] may be written again
        if (WORK) record_reads(seen.read, work, shared + 1);
    }
    if (QUEUE && threadIdx.x == 0)
        for (int i = 0; i < 4; ++i)
            if (counted[i]) atomicAdd(traffic + i, static_cast<unsigned>(counted[i]));
}

#if BINS
// A warp decides about v, its lanes share the row; `set` are 32 words of shared memory.
__device__ bool visit_by_warp(const Input& in, int v, unsigned* set) {
    if (load_relaxed(in.stamp + v) >= 0) return false;
    const int lane = lane_id(), first = in.offsets[v], size = degree(in, v);
    const unsigned hash_v = priority_hash(v, in.seed);
    bool dominated = false, tied = false;
    for (int j = lane; j < size && !dominated; j += 32) {
        const int u = in.targets[first + j];
        dominated = uncolored<true>(in, u) && dominates(in, u, v, size, hash_v, tied);
    }
    if (__any_sync(full_mask, dominated)) return false;
    int color = -1;
    for (int low = 0; color < 0; low += 1024) {
        set[lane] = 0;
        __syncwarp();
        for (int j = lane; j < size; j += 32) {
            const int c = load_relaxed(in.colors + in.targets[first + j]) - low;
            if (c >= 0 && c < 1024) atomicOr(set + (c >> 5), 1u << (c & 31));
        }
        __syncwarp();
        const unsigned word = set[lane], open = __ballot_sync(full_mask, word != full_mask);
        if (open) {
            const int owner = __ffs(open) - 1;
            color = low + owner * 32 + __ffs(~__shfl_sync(full_mask, word, owner)) - 1;
        }
        __syncwarp();
    }
    if (lane == 0) {
        store_relaxed(in.colors + v, color);
        store_relaxed(in.stamp + v, in.round);
    }
    return true;
}
#endif

// progress[SLOT * (round % slots) + COLORED]: a ring, zero before; slots: 4 or more, since a round clears the slot two
// rounds ahead while a late block reads the one before. barrier: zero words; [0]: grid barrier, [2], with BINS: the
// number of vertices in `big`, which has room for all of degree `many` and more. rounds[0] becomes the number of
// rounds. rule: RANDOM or LARGEST; by DEGREE a round may color nothing, and no host intervenes.
extern "C" __global__ void resident(const int* __restrict__ offsets, const int* __restrict__ targets, int n,
                                    unsigned seed, int rule, int* colors, int* stamp, unsigned* progress, int slots,
                                    unsigned* barrier, int* big, int* rounds) {
    DYNAMIC_SHARED(unsigned, shared);
    Input in = {offsets, targets, seed, rule, 0, 0, colors, stamp};
    const int stride = global_threads(), end = (n + stride - 1) / stride * stride;
#if BINS
    for (int v = global_thread(); v < n; v += stride)
        if (degree(in, v) >= many) big[atomicAdd(barrier + 2, 1u)] = v;
    grid_barrier(barrier);
    const int bigs = static_cast<int>(barrier[2]);
#endif
    for (int left = n; left > 0; ++in.round) {
        const int slot = SLOT * (in.round % slots);
        in.color = in.round;
        int colored = 0;
#if BINS
        for (int i = global_thread() / 32; i < bigs; i += stride / 32)
            colored += visit_by_warp(in, big[i], shared + 32 * warp_id()) && lane_id() == 0;
#endif
        for (int v = global_thread(); v < end; v += stride) {
            if (BINS && v < n && degree(in, v) >= many) continue;
            colored += visit<true>(in, v, n).colored;
        }
        colored = warp_sum(colored);
        if (lane_id() == 0 && colored) atomicAdd(progress + slot, static_cast<unsigned>(colored));
        // The slot of the round after the next is free: all blocks have read it.
        if (global_thread() == 0) store_relaxed(progress + SLOT * ((in.round + 2) % slots), 0u);
        grid_barrier(barrier);
        left -= static_cast<int>(load_relaxed(progress + slot));
    }
    if (global_thread() == 0) rounds[0] = in.round;
}
