// Shortest paths without rounds, lists or buckets: every thread keeps a few arcs, watches their tails, and relaxes what
// it sees.
//
// A GPU keeps a quarter of a million threads alive; a graph of up to some millions of arcs fits into their registers
// and the first level of cache, KEEP arcs a thread. A thread looks at its arcs' tails again and again; where a distance
// is smaller than the one it used last, it lowers the head's. There is no queue and no list of pending vertices, and
// one link of a path costs an atomic on its way to L2, the next look at it, and a barrier inside the block: about half
// a microsecond, where a round with a device-wide barrier costs several. Most relaxations are in vain, but done by
// threads that have nothing else to do: graphs of this size leave a GPU idle. For the same reason a bucket does not
// pay: a horizon like that of `asynchronous` saved nine tenths of the relaxations on New York's roads and took longer.
//
// Why it is so
//   - Arcs are sorted by tail, so that a warp's looks fall on few sectors and a hub's arcs are spread over many
//   threads.
//   - What a thread used last is its own record of what is pending: no flag, no list, no capacity, no lost wake-up.
//   - A block's threads sweep together: the barrier at the end of a sweep tells whether any of them had something to
//     do. LOOKS times they look between two barriers, which is worth more the longer the paths.
//   - FILTER: the head is looked at first, through L1. A stale line holds a distance that is too large, so it can only
//     let a useless atomic through. Where several arcs lead to a head this saves most atomics; on roads it is cheaper
//     to send them all than to wait.
//   - The end: a block that had nothing to do in a sweep votes. When all have voted the vote is closed and the next
//     one begins; a block votes again after one more whole sweep without work. A vote in which no block has worked
//     since the vote before ends the run: what was lowered had reached L2 before those earlier votes (a fence precedes
//     each), every block has reread all its tails since, and nothing was new.
//
// References: D. Chazan, W. Miranker, Chaotic relaxation, Linear Algebra and its Applications 2 (1969); termination by
// two quiet rounds: F. Mattern, Algorithms for distributed termination detection, Distributed Computing 2 (1987).
// compile: DISTANCE=unsigned KEEP=1,2,3 THREADS=1024 HELD=1 FILTER=1
// compile: DISTANCE=unsigned KEEP=4,6,8,10,12,14,16,18,20,22,24,26,28,30,32 THREADS=1024 FILTER=1
// compile: DISTANCE=unsigned KEEP=1,2,3 THREADS=1024 RESIDENT=2 HELD=1 LOOKS=2
// compile: DISTANCE=unsigned KEEP=4,6,8,10,12,14,16,18,20,22,24,26,28,30,32 THREADS=1024 RESIDENT=2 LOOKS=2
// compile: DISTANCE=double KEEP=1,2,3 THREADS=1024 HELD=1 FILTER=1
// compile: DISTANCE=double KEEP=3 THREADS=1024 HELD=1 LOOKS=2
#include "types.cuh"

#ifndef KEEP
#define KEEP 2     // arcs of a thread, at most 32
#endif
#ifndef THREADS
#define THREADS 64
#endif
#ifndef RESIDENT
#define RESIDENT 1  // blocks of a multiprocessor
#endif
#ifndef HELD
#define HELD 0     // 1: arcs stay in registers; 0: they come from L1 when they are needed
#endif
#ifndef LOOKS
#define LOOKS 1
#endif
#ifndef FILTER
#define FILTER 0
#endif
#ifndef COUNT
#define COUNT 0
#endif

constexpr unsigned finished = 0xffffffffu;
// Words in memory that host and GPU share, so that a run is one launch and one wait: from the host the source; to it
// whether a sum would leave the type, and the sweeps of the block that saw the end.
constexpr int source_word = 0, overflow = 1, sweeps = 2;

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
chaotic(const int* __restrict__ tails, const Arc* __restrict__ arcs, int m, int n, DISTANCE limit, DISTANCE* dist,
        unsigned* vote, int* shared_words, int* counts, unsigned* barrier) {
    DYNAMIC_SHARED(unsigned, generation);  // [2] the vote that is open, for sweeps in turn
    const int thread = (int)threadIdx.x, blocks = (int)gridDim.x;
    const int share = (m + blocks - 1) / blocks;
    const int first = (int)min((long long)blockIdx.x * share, (long long)m), end = min(first + share, m);

    int tail[KEEP];
    Distance known[KEEP];
    Arc held[KEEP];
#pragma unroll
    for (int k = 0; k < KEEP; ++k) {
        const int e = first + k * THREADS + thread;
        tail[k] = e < end ? tails[e] : -1;
        known[k] = infinity();
        if (HELD) held[k] = load_arc(arcs + (e < end ? e : 0));
    }
    for (unsigned v = global_thread(); v < (unsigned)n; v += global_threads()) dist[v] = infinity();
    int source = 0;
    if (thread == 0) generation[0] = generation[1] = 0;
    if (global_thread() == 0) {
        vote[0] = vote[1] = 0;
        source = load_relaxed(shared_words + source_word);
    }
    grid_barrier(barrier);
    if (global_thread() == 0) store_relaxed(dist + source, Distance(0));  // its block votes after this

    bool active = true, voted = false;
    unsigned phase = 0, present = 0;
    int step = 0, from = 0;  // the first sweep that counts for the open vote
    long long relaxations = 0;
    for (;; ++step) {
        bool moved = false;
        for (int look = 0; look < LOOKS; ++look) {
            Distance d[KEEP];
#pragma unroll
            for (int k = 0; k < KEEP; ++k) d[k] = tail[k] >= 0 ? load_relaxed(dist + tail[k]) : infinity();
            if (thread == 0 && look == LOOKS - 1) {
                const unsigned open = load_relaxed(vote + 1);
                if (open != present) __threadfence();  // what was sent before the vote closed is visible from here on
                generation[step & 1] = present = open;
            }
            unsigned fresh = 0;
#pragma unroll
            for (int k = 0; k < KEEP; ++k) {
                if (!(d[k] < known[k])) continue;
                known[k] = d[k];
                moved = true;
                if (d[k] > limit) shared_words[overflow] = 1;
                else fresh |= 1u << k;
            }
            if (!__any_sync(full_mask, fresh != 0)) continue;
#pragma unroll
            for (int part = 0; part < KEEP; part += 4) {  // four at a time: their loads are under way together
                Distance there[4];
                int head[4];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int k = part + i;
                    if (k >= KEEP || !(fresh >> k & 1)) continue;
                    const Arc arc = HELD ? held[k] : load_arc(arcs + first + k * THREADS + thread);
                    head[i] = (int)arc.target;
                    d[k] += arc.weight;
                    there[i] = FILTER ? dist[head[i]] : infinity();
                    if (COUNT) ++relaxations;
                }
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int k = part + i;
                    if (k < KEEP && fresh >> k & 1 && d[k] < there[i]) lower(dist + head[i], d[k]);
                }
            }
        }
        const bool any = __syncthreads_or(moved);
        const unsigned seen = *(volatile const unsigned*)(generation + (step & 1));
        if (seen == finished) break;
        if (voted && seen != phase) phase = seen, voted = false, from = step + 1;
        if (any) {
            active = true;
        } else if (!voted && step >= from) {
            if (thread == 0) {
                __threadfence();  // passes on what the block's threads sent before the barrier
                const unsigned old = atomicAdd(vote, 1u + (active ? 0x10000u : 0u));
                if ((old & 0xffffu) == (unsigned)blocks - 1) {
                    const bool quiet = !active && (old >> 16) == 0;
                    if (quiet) shared_words[sweeps] = step;
                    store_relaxed(vote, 0u);
                    __threadfence();
                    store_release(vote + 1, quiet ? finished : phase + 1);
                }
            }
            voted = true;
            active = false;
        }
    }
    if (COUNT) atomicAdd(reinterpret_cast<unsigned long long*>(counts), (unsigned long long)relaxations);
}
