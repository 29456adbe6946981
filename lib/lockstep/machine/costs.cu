// Microbenchmarks of single operations: the kernels of study 0.
//
// Each kernel repeats one operation `rounds` times; the host runs it with few and with many rounds, and the difference
// cancels launch, ramp-up and drain (Zhang et al. 2020). To prove that the work was done, kernels leave results that
// have exactly one right value: a chain of loads must end at a known element, counters must add up, and the values that
// atomics return must have a permutation's sum.
//
// Indices come from memory or from a run-time mask, so the compiler cannot know that the lanes of a warp address one
// word and aggregate their atomics (where it can, it does: add_aggregated shows the effect).
//
// References: L. Zhang, M. Wahib, H. Zhang, S. Matsuoka, "A Study of Single and Multi-device Synchronization Methods in
// NVIDIA GPUs", IPDPS 2020 (arXiv 2004.05371), for the method; the paper on SGD schedules, Figure 9, for the question.
#include "device.cuh"

// ---- launches
// For single launches and graph nodes: an empty kernel, and one that counts.
extern "C" __global__ void nothing() {}

extern "C" __global__ void count_launch(unsigned* counter) {
    if (global_thread() == 0) counter[0] += 1;
}

// ---- barriers
// passed[b] += barriers that block b passed; the state's top bit ends as the parity of their number.
extern "C" __global__ void grid_barriers(unsigned* state, unsigned* passed, int rounds) {
    unsigned through = 0;
    for (int r = 0; r < rounds; ++r) {
        grid_barrier(state);
        ++through;
    }
    if (threadIdx.x == 0) passed[blockIdx.x] += through;
}

// passed[t] += barriers that thread t of block 0 passed.
extern "C" __global__ void block_barriers(unsigned* passed, int rounds) {
    unsigned through = 0;
#pragma unroll 8  // else the loop branch is half of the measured time
    for (int r = 0; r < rounds; ++r) {
        __syncthreads();
        ++through;
    }
    if (blockIdx.x == 0) passed[threadIdx.x] += through;
}

// Ping-pong of two blocks: one hop is a release store seen by the other's acquire load.
extern "C" __global__ void hops(unsigned* ball, int rounds) {
    if (threadIdx.x != 0) return;
    const unsigned first = *ball & ~1u;  // even at the beginning of a launch; block 1 reads it at most one hop later
    for (unsigned r = blockIdx.x; r < 2u * rounds; r += 2) {
        while (load_acquire(ball) != first + r) {}
        store_release(ball, first + r + 1);
    }
}

// ---- the clock: spins until `cycles` cycles of this multiprocessor have passed
extern "C" __global__ void count_cycles(long long* passed, long long cycles) {
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
    if (threadIdx.x == 0) passed[0] = clock64() - begin;
}

// ---- dependent loads: one thread chases indices, next[i] after i
extern "C" __global__ void walk_l1(const unsigned* __restrict__ next, unsigned* end, unsigned start, int rounds) {
    unsigned i = start;
    for (int r = 0; r < rounds; ++r) i = __ldca(next + i);
    end[0] = i;
}

extern "C" __global__ void walk_l2(const unsigned* next, unsigned* end, unsigned start, int rounds) {
    unsigned i = start;
    for (int r = 0; r < rounds; ++r) i = __ldcg(next + i);
    end[0] = i;
}

extern "C" __global__ void walk_shared(const unsigned* next, unsigned* end, unsigned start, int rounds, int words) {
    DYNAMIC_SHARED(unsigned char, memory);
    unsigned* cell = reinterpret_cast<unsigned*>(memory);
    for (int i = 0; i < words; ++i) cell[i] = next[i];
    unsigned i = start;
    for (int r = 0; r < rounds; ++r) i = cell[i];
    end[0] = i;
}

// ---- dependent atomics: the same walk; each visit adds `words` (a power of two) to the cell, so the low bits stay the
// index to go to, and the high bits count the visits.
extern "C" __global__ void walk_atomic(unsigned* next, unsigned* end, unsigned start, int rounds, unsigned words) {
    unsigned i = start;
    for (int r = 0; r < rounds; ++r) i = atomicAdd(next + i, words) & (words - 1);
    end[0] = i;
}

extern "C" __global__ void walk_atomic_shared(unsigned* next, unsigned* end, unsigned start, int rounds,
                                              unsigned words) {
    DYNAMIC_SHARED(unsigned char, memory);
    unsigned* cell = reinterpret_cast<unsigned*>(memory);
    for (unsigned i = 0; i < words; ++i) cell[i] = next[i];
    unsigned i = start;
    for (int r = 0; r < rounds; ++r) i = atomicAdd(cell + i, words) & (words - 1);
    for (unsigned k = 0; k < words; ++k) next[k] = cell[k];
    end[0] = i;
}

// ---- throughput of atomics: every thread does `rounds` of them on counters[hash & mask]. The constants that step from
// thread to thread and from round to round must not be multiples of each other: else threads meet at each other's
// addresses, and what should be spread over memory stays in the caches.
__device__ __forceinline__ unsigned scramble(unsigned x) {  // a bijection that mixes well (an integer hash)
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// sums[0] += all returned values: with one counter that is 0 + 1 + 2 + ..., whatever the order.
extern "C" __global__ void add_returned(unsigned* counters, unsigned mask, unsigned long long* sums, int rounds) {
    const unsigned me = global_thread();
    unsigned long long sum = 0;
    unsigned x = me * 0x9E3779B9u;
#pragma unroll 4
    for (int r = 0; r < rounds; ++r) {
        x += 0x85EBCA6Bu;
        sum += atomicAdd(counters + (scramble(x) & mask), 1u);
    }
    atomicAdd(sums, sum);
}

// The result is not used: compiled to a reduction, which returns nothing.
extern "C" __global__ void add_unused(unsigned* counters, unsigned mask, unsigned long long* sums, int rounds) {
    unsigned x = global_thread() * 0x9E3779B9u;
#pragma unroll 4
    for (int r = 0; r < rounds; ++r) {
        x += 0x85EBCA6Bu;
        atomicAdd(counters + (scramble(x) & mask), 1u);
    }
    if (global_thread() == 0) sums[0] = 0;
}

// The compiler knows that all lanes add to one address, and issues one atomic per warp.
extern "C" __global__ void add_aggregated(unsigned* counters, unsigned mask, unsigned long long* sums, int rounds) {
#pragma unroll 4
    for (int r = 0; r < rounds; ++r) atomicAdd(counters, 1u);
    if (global_thread() == 0) sums[0] = mask;
}

// Compare-and-swap as a retry loop does it: the next guess is what was seen last. sums[0] += successes.
extern "C" __global__ void cas(unsigned* counters, unsigned mask, unsigned long long* sums, int rounds) {
    unsigned long long successes = 0;
    unsigned x = global_thread() * 0x9E3779B9u, guess = 0;
    for (int r = 0; r < rounds; ++r) {
        x += 0x85EBCA6Bu;
        const unsigned seen = atomicCAS(counters + (scramble(x) & mask), guess, guess + 1);
        successes += seen == guess;
        guess = seen == guess ? seen + 1 : seen;
    }
    atomicAdd(sums, successes);
}
