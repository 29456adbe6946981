// What one block is charged for many atomics at once: the kernels of the cases in oneblock.py.
//
// A level that one block has to itself is a burst of atomics on counters that lie anywhere, each with its value used.
// How many a multiprocessor gets through depends on where the counters are: in its own shared memory, where lanes that
// meet in a bank take turns, or in L2, where each has its own way there and back. As in costs.cu every kernel leaves
// counters that must add up and values that must be each of 0, 1, 2, ... once.
#include "device.cuh"

__device__ inline unsigned scattered(unsigned thread) {  // where a thread's sequence begins
    unsigned x = (thread + 1) * 0x9E3779B1u;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// A linear congruence: its upper bits are as good as random, and one instruction makes the next.
__device__ inline unsigned next(unsigned x) { return x * 1664525u + 1013904223u; }

// sums[0] += all returned values; counters: 2^bits of them, from 0 on.
extern "C" __global__ void __launch_bounds__(1024) add_in_block(unsigned* counters, unsigned long long* sums, int bits,
                                                                int rounds) {
    DYNAMIC_SHARED(unsigned char, memory);
    unsigned* cells = reinterpret_cast<unsigned*>(memory);
    for (int i = threadIdx.x; i < 1 << bits; i += blockDim.x) cells[i] = 0;
    __syncthreads();
    unsigned x = scattered(threadIdx.x);
    unsigned long long sum = 0;
#pragma unroll 4
    for (int r = 0; r < rounds; ++r) {
        x = next(x);
        sum += atomicAdd(cells + (x >> (32 - bits)), 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1 << bits; i += blockDim.x) counters[i] = cells[i];
    atomicAdd(sums, sum);
}

// The same on counters in global memory, zero before.
extern "C" __global__ void __launch_bounds__(1024) add_from_block(unsigned* counters, unsigned long long* sums,
                                                                  int bits, int rounds) {
    unsigned x = scattered(threadIdx.x);
    unsigned long long sum = 0;
#pragma unroll 4
    for (int r = 0; r < rounds; ++r) {
        x = next(x);
        sum += atomicAdd(counters + (x >> (32 - bits)), 1u);
    }
    atomicAdd(sums, sum);
}
