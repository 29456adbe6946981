// Shortest paths without rounds, lists or buckets: each thread owns a few arcs, polls their tails and relaxes the arcs
// of those whose distance decreased.
//
// A GPU has up to a quarter of a million resident threads; a graph of up to some millions of arcs fits into their
// registers and L1, ARCS_PER_THREAD each. A thread polls its arcs' tails repeatedly; where a distance is smaller than
// the one it used last, it lowers the head's. There is no queue and no list of pending vertices. One arc of a path
// costs an atomic at L2, the next poll of its target, and a block barrier: about half a microsecond, where a round with
// a grid barrier costs several. Most relaxations are redundant, but occupy otherwise idle threads. For the same reason
// a bucket does not pay: a horizon like that of `asynchronous` saved nine tenths of the relaxations on the New York
// road network and took longer.
//
// Design
//   - Arcs are sorted by tail: a warp's polls fall on few sectors, and a hub's arcs are spread over many threads.
//   - An arc is pending while its tail is below `last_used`, the distance used last: no flag, list, or lost wake-up.
//   - The threads of a block sweep together: the barrier after a sweep tells whether any of them found a smaller
//     distance. A sweep polls POLLS times, which pays more the longer the paths.
//   - FILTER: the head's distance is read first, through L1. A stale line holds too large a distance, so it can only
//     admit a redundant atomic. Where heads have many arcs this saves most atomics; on roads it is cheaper to issue
//     them all than to wait for the load.
//   - Termination: a block without work in a sweep votes. When all have voted, the vote closes and the next one
//     opens; a block votes again after one more sweep without work. A vote in which no block reports work since the
//     previous vote ends the run: all updates reached L2 before that previous vote (a fence precedes each), and every
//     block has since reread all its tails without a change.
//
// References: D. Chazan, W. Miranker, Chaotic relaxation, Linear Algebra and its Applications 2 (1969); two-wave
// termination: F. Mattern, Algorithms for distributed termination detection, Distributed Computing 2 (1987).
// compile: DISTANCE=unsigned ARCS_PER_THREAD=1,2,3 THREADS=1024 ARCS_IN_REGISTERS=1 FILTER=1
// compile: DISTANCE=unsigned ARCS_PER_THREAD=4,6,8,10,12,14,16,18,20,22,24,26,28,30,32 THREADS=1024 FILTER=1
// compile: DISTANCE=unsigned ARCS_PER_THREAD=1,2,3 THREADS=1024 RESIDENT=2 ARCS_IN_REGISTERS=1 POLLS=2
// compile: DISTANCE=unsigned ARCS_PER_THREAD=4,6,8,10,12,14,16,18,20,22,24,26,28,30,32 THREADS=1024 RESIDENT=2 POLLS=2
// compile: DISTANCE=double ARCS_PER_THREAD=1,2,3 THREADS=1024 ARCS_IN_REGISTERS=1 FILTER=1
// compile: DISTANCE=double ARCS_PER_THREAD=3 THREADS=1024 ARCS_IN_REGISTERS=1 POLLS=2
#include "types.cuh"

#ifndef ARCS_PER_THREAD
#define ARCS_PER_THREAD 2  // at most 32
#endif
#ifndef THREADS
#define THREADS 64
#endif
#ifndef RESIDENT
#define RESIDENT 1  // blocks per multiprocessor
#endif
#ifndef ARCS_IN_REGISTERS
#define ARCS_IN_REGISTERS 0  // 1: arcs stay in registers; 0: reloaded through L1 when needed
#endif
#ifndef POLLS
#define POLLS 1
#endif
#ifndef FILTER
#define FILTER 0
#endif
#ifndef COUNT
#define COUNT 0
#endif

constexpr unsigned finished = 0xffffffffu;
// Words of memory that host and GPU share, so that a run is one launch and one wait. In: the source; out: whether a sum
// would overflow, and the sweep in which the last vote closed.
constexpr int source_word = 0, overflow = 1, last_sweep = 2;

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
chaotic(const int* __restrict__ tails, const Arc* __restrict__ arcs, int m, int n, DISTANCE limit, DISTANCE* dist,
        unsigned* vote, int* shared_words, int* counts, unsigned* barrier) {
    DYNAMIC_SHARED(unsigned, vote_number);  // [2] number of the open vote, alternating by sweep
    const int thread = (int)threadIdx.x, blocks = (int)gridDim.x;
    const int arcs_per_block = (m + blocks - 1) / blocks;
    const int first = (int)min((long long)blockIdx.x * arcs_per_block, (long long)m);
    const int end = min(first + arcs_per_block, m);

    int tail[ARCS_PER_THREAD];
    Distance last_used[ARCS_PER_THREAD];
    Arc own_arcs[ARCS_PER_THREAD];
#pragma unroll
    for (int k = 0; k < ARCS_PER_THREAD; ++k) {
        const int e = first + k * THREADS + thread;
        tail[k] = e < end ? tails[e] : -1;
        last_used[k] = infinity();
        if (ARCS_IN_REGISTERS) own_arcs[k] = load_arc(arcs + (e < end ? e : 0));
    }
    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads()) dist[v] = infinity();
    int source = 0;
    if (thread == 0) vote_number[0] = vote_number[1] = 0;
    if (global_thread() == 0) {
        vote[0] = vote[1] = 0;
        source = load_relaxed(shared_words + source_word);
    }
    grid_barrier(barrier);
    if (global_thread() == 0) store_relaxed(dist + source, Distance(0));  // precedes its block's first vote

    bool active = true, voted = false;
    unsigned current_vote = 0, latest_vote = 0;
    int sweep = 0, first_sweep = 0;  // the first sweep that counts for the open vote
    long long relaxations = 0;
    for (;; ++sweep) {
        bool worked = false;
        for (int poll = 0; poll < POLLS; ++poll) {
            Distance d[ARCS_PER_THREAD];
#pragma unroll
            for (int k = 0; k < ARCS_PER_THREAD; ++k) d[k] = tail[k] >= 0 ? load_relaxed(dist + tail[k]) : infinity();
            if (thread == 0 && poll == POLLS - 1) {
                const unsigned open_vote = load_relaxed(vote + 1);
                // makes updates before the vote closed visible from here on
                if (open_vote != latest_vote) __threadfence();
                vote_number[sweep & 1] = latest_vote = open_vote;
            }
            unsigned to_relax = 0;
#pragma unroll
            for (int k = 0; k < ARCS_PER_THREAD; ++k) {
                if (!(d[k] < last_used[k])) continue;
                last_used[k] = d[k];
                worked = true;
                if (d[k] > limit) shared_words[overflow] = 1;
                else to_relax |= 1u << k;
            }
            if (!__any_sync(full_mask, to_relax != 0)) continue;
#pragma unroll
            for (int part = 0; part < ARCS_PER_THREAD; part += 4) {  // four at a time, so that their loads overlap
                Distance head_distance[4];
                int head[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int k = part + i;
                    if (k >= ARCS_PER_THREAD || !(to_relax >> k & 1)) continue;
                    const Arc arc = ARCS_IN_REGISTERS ? own_arcs[k] : load_arc(arcs + first + k * THREADS + thread);
                    head[i] = (int)arc.target;
                    d[k] += arc.weight;
                    head_distance[i] = FILTER ? dist[head[i]] : infinity();
                    if (COUNT) ++relaxations;
                }
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int k = part + i;
                    if (k < ARCS_PER_THREAD && to_relax >> k & 1 && d[k] < head_distance[i]) send(dist + head[i], d[k]);
                }
            }
        }
        const bool any_worked = __syncthreads_or(worked);
        const unsigned loaded_vote = *(volatile const unsigned*)(vote_number + (sweep & 1));
        if (loaded_vote == finished) break;
        if (voted && loaded_vote != current_vote) current_vote = loaded_vote, voted = false, first_sweep = sweep + 1;
        if (any_worked) {
            active = true;
        } else if (!voted && sweep >= first_sweep) {
            if (thread == 0) {
                __threadfence();  // cumulative: covers the block's atomics before the barrier
                const unsigned old = atomicAdd(vote, 1u + (active ? 0x10000u : 0u));
                if ((old & 0xffffu) == (unsigned)blocks - 1) {
                    const bool quiet = !active && (old >> 16) == 0;
                    if (quiet) shared_words[last_sweep] = sweep;
                    store_relaxed(vote, 0u);
                    __threadfence();
                    store_release(vote + 1, quiet ? finished : current_vote + 1);
                }
            }
            voted = true;
            active = false;
        }
    }
    if (COUNT) atomicAdd(reinterpret_cast<unsigned long long*>(counts), (unsigned long long)relaxations);
}
