// Throughput of the atomics of one block: the kernels of the cases in oneblock.py.
//
// A level processed by one block is a burst of atomics on scattered counters whose returned values are used. Their
// throughput depends on where the counters lie: in shared memory, where bank conflicts serialize lanes, or in L2, where
// each atomic takes a round trip. As in costs.cu every kernel leaves counters that must add up and a sum of returned
// values that must agree with them.
#include "device.cuh"

__device__ inline unsigned scattered(unsigned thread) {  // where a thread's sequence begins
    unsigned x = (thread + 1) * 0x9E3779B1u;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

// A linear congruential generator, one multiply-add a number; its upper bits are used.
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
