// Device functions for all kernels, with one interface on the GPU and in the emulator.
//
// The text of this file is pasted into each .cu that includes it, before the compiler sees it (CuPy's cache does not
// notice a change in an included file). Under NVRTC the functions below are a few instructions each; in the CPU
// emulator (LOCKSTEP_HOST) the same names come from host.hpp, which runs threads as fibers.
//
// Conventions of a kernel file
//   - kernels are   extern "C" __global__ void name(const int* __restrict__ a, int n)   on plain parameter types;
//   - shared memory is always dynamic:   DYNAMIC_SHARED(unsigned char, shared);   then carve it. A grid barrier keeps
//     several blocks alive on one host thread, so a static __shared__ array would be shared between blocks there;
//   - spin only on load_acquire, load_relaxed, atomics or pause: these let the emulator run another thread. A spin
//     on a plain or volatile variable would hang it;
//   - a comment line   // compile: K=16,32 THREADS=256   names sets of macro definitions that the file is built with
//     (one for each value; repeat the line for more); `python -m lockstep.machine.compile` builds all of them for all
//     architectures, and a GPU records no row of a kernel built with a set that no line names.
//
// References: PTX ISA, "Memory Consistency Model" (ld.acquire, st.release, fence.acq_rel, .relaxed at gpu scope).
#pragma once

#ifndef LOCKSTEP_HOST

constexpr unsigned full_mask = 0xffffffffu;

#define LOCKSTEP_REDUCTION(reduce, p, v) (void)reduce(p, v)
#define DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) type name[]

namespace lockstep {
// Moves the bits of a 4- or 8-byte value through an integer register, as the PTX loads and stores require.
template <class T, int size> struct Bits;
template <class T> struct Bits<T, 4> {
    static __device__ __forceinline__ T acquire(const T* p) {
        unsigned v;
        asm volatile("ld.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
        return *reinterpret_cast<T*>(&v);
    }
    static __device__ __forceinline__ T relaxed(const T* p) {
        unsigned v;
        asm volatile("ld.relaxed.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
        return *reinterpret_cast<T*>(&v);
    }
    static __device__ __forceinline__ void release(T* p, T v) {
        asm volatile("st.release.gpu.b32 [%0], %1;" : : "l"(p), "r"(*reinterpret_cast<unsigned*>(&v)) : "memory");
    }
    static __device__ __forceinline__ void relaxed(T* p, T v) {
        asm volatile("st.relaxed.gpu.b32 [%0], %1;" : : "l"(p), "r"(*reinterpret_cast<unsigned*>(&v)) : "memory");
    }
};
template <class T> struct Bits<T, 8> {
    typedef unsigned long long Word;
    static __device__ __forceinline__ T acquire(const T* p) {
        Word v;
        asm volatile("ld.acquire.gpu.b64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
        return *reinterpret_cast<T*>(&v);
    }
    static __device__ __forceinline__ T relaxed(const T* p) {
        Word v;
        asm volatile("ld.relaxed.gpu.b64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
        return *reinterpret_cast<T*>(&v);
    }
    static __device__ __forceinline__ void release(T* p, T v) {
        asm volatile("st.release.gpu.b64 [%0], %1;" : : "l"(p), "l"(*reinterpret_cast<Word*>(&v)) : "memory");
    }
    static __device__ __forceinline__ void relaxed(T* p, T v) {
        asm volatile("st.relaxed.gpu.b64 [%0], %1;" : : "l"(p), "l"(*reinterpret_cast<Word*>(&v)) : "memory");
    }
};
}  // namespace lockstep

// Loads and stores of 4- or 8-byte values that other blocks see; they go to L2, never to a stale line of L1.
// *p must be global or shared memory, naturally aligned.
template <class T> __device__ __forceinline__ T load_acquire(const T* p) {
    return lockstep::Bits<T, sizeof(T)>::acquire(p);
}
template <class T> __device__ __forceinline__ T load_relaxed(const T* p) {
    return lockstep::Bits<T, sizeof(T)>::relaxed(p);
}
template <class T, class V> __device__ __forceinline__ void store_release(T* p, V v) {
    lockstep::Bits<T, sizeof(T)>::release(p, static_cast<T>(v));
}
template <class T, class V> __device__ __forceinline__ void store_relaxed(T* p, V v) {
    lockstep::Bits<T, sizeof(T)>::relaxed(p, static_cast<T>(v));
}

// Order memory accesses for the whole GPU, or for the block, without the sequential consistency of __threadfence.
__device__ __forceinline__ void fence_gpu() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ __forceinline__ void fence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }

// Suspends a spinning thread for about ns nanoseconds.
__device__ __forceinline__ void pause(unsigned ns) { __nanosleep(ns); }

// A mark in the emulator's trace of an interleaving; nothing on a GPU.
__device__ __forceinline__ void trace_event(int, long, long) {}

// Position of this thread in its block, its warp, the grid. Blocks are counted along x first.
__device__ __forceinline__ unsigned block_thread() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Barrier of all threads of a cooperative launch; writes before it are visible after it.
// state: one word of global memory, zero before the first use; it serves any number of barriers.
// Each block adds 1, the first block adds 2^31 - (blocks - 1), so after the last arrival the low bits are zero again
// and the top bit has flipped. The last arrival thereby opens the barrier with its own atomic: a second store to
// release the others would add a round trip to L2 (on an H200 that takes nearly twice as long).
// The release of thread 0 also publishes what its block wrote before the __syncthreads (causality is transitive).
__device__ __forceinline__ void grid_barrier(unsigned* state) {
    __syncthreads();
    if (block_thread() == 0) {
        const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        const bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
        const unsigned mine = first ? 0x80000000u - (blocks - 1) : 1u;
        unsigned old;
        asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(state), "r"(mine) : "memory");
        while (((load_acquire(state) ^ old) & 0x80000000u) == 0) {}
    }
    __syncthreads();
}

#endif  // LOCKSTEP_HOST

__device__ __forceinline__ unsigned lane_id() { return block_thread() & 31u; }
__device__ __forceinline__ unsigned warp_id() { return block_thread() >> 5; }
__device__ __forceinline__ unsigned global_threads() {
    return gridDim.x * gridDim.y * gridDim.z * blockDim.x * blockDim.y * blockDim.z;
}
__device__ __forceinline__ unsigned global_thread() {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    return block * (blockDim.x * blockDim.y * blockDim.z) + block_thread();
}

// Reserves consecutive places for the lanes of a ballot by one atomic of its first lane (warp-aggregated atomics); all
// lanes must call it. A lane's own place is the result plus its rank in the ballot.
__device__ __forceinline__ int reserve(int* count, unsigned lanes) {
    const int first = max(__ffs(lanes) - 1, 0);
    int place = 0;
    if (lanes && (int)lane_id() == first) place = atomicAdd(count, __popc(lanes));
    return __shfl_sync(full_mask, place, first);
}
__device__ __forceinline__ int rank_in(unsigned lanes) { return __popc(lanes & ((1u << lane_id()) - 1u)); }
