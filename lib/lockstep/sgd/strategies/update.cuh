// One update of stochastic gradient descent, and the functions that all schedules share.
//
//     e = rate rating - rate <user, item>;   user' = decay user + e item;   item' = decay item + e user
//
// with decay = 1 - rate * regularization, e the scaled error, and the old vectors on the right; only the last
// multiply-add of each depends on the dot product. K is the padded rank (a power of two from 4), LANES the threads per
// edge (1: the published form; K/4: one 16-byte load per thread).
//
// Both vectors are cut into chunks of four features; the products of a chunk are a chain of fused multiply-adds, the
// chunks are added as a binary tree: the second half to the first, and so on. So the bits of a result depend neither on
// LANES nor on the machine, and the serial oracle (Numba, same chain and tree) replays any logged order exactly. A lane
// has every LANES-th chunk: neighbouring lanes read neighbouring 16 bytes, and a lane's chunks are partners in the
// tree.
//
// Vectors lie in global memory and are read past L1 (__ldcg), since another multiprocessor may have just written them.
// HALF=1 stores them there as float16, rounded to nearest; all arithmetic stays float32.
//
// LOG=1 records the position of each update in the history of its two nodes. The nodes' counters are deliberately not
// atomic: if two threads ever held a node together, a position would be lost or assigned twice, which the check
// detects. LOCK_DELAY and BARRIER_DELAY delay each lock attempt and each barrier by that many clock cycles, to emulate
// slower platforms.
#pragma once
#include "device.cuh"

#ifndef LOG
#define LOG 0
#endif
#ifndef NONNEGATIVE
#define NONNEGATIVE 0
#endif
#ifndef LOCK_DELAY
#define LOCK_DELAY 0
#endif
#ifndef BARRIER_DELAY
#define BARRIER_DELAY 0
#endif
#ifndef HALF
#define HALF 0
#endif

constexpr int CHUNKS = K / 4 / LANES;
static_assert(CHUNKS * 4 * LANES == K, "K must be LANES times 4, 8, 16, ...");

struct Vector {
    float4 chunk[CHUNKS];
};

// Lane of this thread in its group, and the lanes of the warp that form the group.
__device__ __forceinline__ int lane_in_group() { return block_thread() % LANES; }
__device__ __forceinline__ unsigned group_mask() {
    return LANES == 32 ? full_mask : ((1u << (LANES & 31)) - 1u) << (lane_id() & ~(LANES - 1));
}

// Lane 0's value for the whole group; all lanes of the warp call it.
__device__ __forceinline__ int from_first(int value) {
    return LANES == 1 ? value : __shfl_sync(full_mask, value, 0, LANES);
}

// Four features in global memory.
#if HALF
typedef unsigned short Stored;   // the bits of a float16

#ifdef LOCKSTEP_HOST
// float16 in software: the same bits under any host compiler.
LOCKSTEP_PLAIN float widen(Stored half) {
    const unsigned exponent = half >> 10 & 31u, fraction = half & 1023u;
    const float size = exponent == 31u ? (fraction ? NAN : INFINITY)
                       : exponent      ? std::ldexp(1024.0f + fraction, (int)exponent - 25)
                                       : std::ldexp((float)fraction, -24);
    return half & 0x8000u ? -size : size;
}
LOCKSTEP_PLAIN Stored narrow(float value) {
    const Stored sign = std::signbit(value) ? 0x8000 : 0;
    const float size = std::fabs(value);
    if (size != size) return sign | 0x7e00;
    if (size >= 65520.0f) return sign | 0x7c00;
    int exponent = 0;
    std::frexp(size, &exponent);                          // size = 0.5 to 1 times 2^exponent
    const bool normal = size >= std::ldexp(1.0f, -14);
    const int unit = normal ? exponent - 11 : -24;        // one unit in the last place
    const unsigned places = (unsigned)std::nearbyint(std::ldexp(size, -unit));   // to nearest, ties to even
    return sign | (Stored)(normal ? places + ((unsigned)(exponent + 13) << 10) : places);
}
#else
__device__ __forceinline__ float widen(Stored half) {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
    return value;
}
__device__ __forceinline__ Stored narrow(float value) {
    Stored half;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
    return half;
}
#endif
__device__ __forceinline__ float4 wide(ushort4 v) {
    return make_float4(widen(v.x), widen(v.y), widen(v.z), widen(v.w));
}
__device__ __forceinline__ float4 load_chunk(const Stored* at) {
    return wide(__ldcg(reinterpret_cast<const ushort4*>(at)));
}
__device__ __forceinline__ void store_chunk(Stored* at, float4 v) {
    __stcg(reinterpret_cast<ushort4*>(at), make_ushort4(narrow(v.x), narrow(v.y), narrow(v.z), narrow(v.w)));
}
#else
typedef float Stored;
__device__ __forceinline__ float4 load_chunk(const Stored* at) { return __ldcg(reinterpret_cast<const float4*>(at)); }
__device__ __forceinline__ void store_chunk(Stored* at, float4 v) { __stcg(reinterpret_cast<float4*>(at), v); }
#endif

__device__ __forceinline__ Vector load(const Stored* vectors, long node) {
    Vector v;
    const Stored* at = vectors + node * K + 4 * lane_in_group();
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) v.chunk[c] = load_chunk(at + 4 * LANES * c);
    return v;
}
__device__ __forceinline__ void store(Stored* vectors, long node, const Vector& v) {
    Stored* at = vectors + node * K + 4 * lane_in_group();
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) store_chunk(at + 4 * LANES * c, v.chunk[c]);
}

// The same for a vector in shared memory that only this group accesses: each lane reads its own writes.
__device__ __forceinline__ Vector load_shared(const float* vectors, long node) {
    Vector v;
    const float4* at = reinterpret_cast<const float4*>(vectors + node * K) + lane_in_group();
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) v.chunk[c] = at[LANES * c];
    return v;
}
__device__ __forceinline__ void store_shared(float* vectors, long node, const Vector& v) {
    float4* at = reinterpret_cast<float4*>(vectors + node * K) + lane_in_group();
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) at[LANES * c] = v.chunk[c];
}

__device__ __forceinline__ float4 times(float4 a, float s) {
    return make_float4(__fmul_rn(a.x, s), __fmul_rn(a.y, s), __fmul_rn(a.z, s), __fmul_rn(a.w, s));
}
__device__ __forceinline__ float4 plus(float4 a, float s, float4 b) {  // a + s b
    float4 r = make_float4(__fmaf_rn(s, b.x, a.x), __fmaf_rn(s, b.y, a.y), __fmaf_rn(s, b.z, a.z),
                           __fmaf_rn(s, b.w, a.w));
    if (NONNEGATIVE) r = make_float4(max(r.x, 0.0f), max(r.y, 0.0f), max(r.z, 0.0f), max(r.w, 0.0f));
    return r;
}
__device__ __forceinline__ float chunk_dot(float4 a, float4 b) {
    return __fmaf_rn(a.w, b.w, __fmaf_rn(a.z, b.z, __fmaf_rn(a.y, b.y, __fmul_rn(a.x, b.x))));
}

// This lane's part of <a, b>.
__device__ __forceinline__ float lane_dot(const Vector& a, const Vector& b) {
    float s[CHUNKS];
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) s[c] = chunk_dot(a.chunk[c], b.chunk[c]);
    #pragma unroll
    for (int width = CHUNKS / 2; width; width /= 2) {
        #pragma unroll
        for (int c = 0; c < width; ++c) s[c] = __fadd_rn(s[c], s[c + width]);
    }
    return s[0];
}

// <a, b> in all lanes of the group; `lanes`: mask of the calling lanes of the warp.
__device__ __forceinline__ float dot(const Vector& a, const Vector& b, unsigned lanes) {
    float sum = lane_dot(a, b);
    #pragma unroll
    for (int width = LANES / 2; width; width /= 2) sum = __fadd_rn(sum, __shfl_xor_sync(lanes, sum, width));
    return sum;
}

// The update itself, in registers; scaled_rating: rate * rating, scaled_error: rate * (rating - <user, item>).
__device__ __forceinline__ void step_scaled(Vector& user, Vector& item, float scaled_rating, float rate, float decay,
                                            unsigned lanes) {
    const float scaled_error = __fmaf_rn(-rate, dot(user, item, lanes), scaled_rating);
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const float4 u = user.chunk[c], i = item.chunk[c];
        user.chunk[c] = plus(times(u, decay), scaled_error, i);
        item.chunk[c] = plus(times(i, decay), scaled_error, u);
    }
}
__device__ __forceinline__ void step(Vector& user, Vector& item, float rating, float rate, float decay,
                                     unsigned lanes) {
    step_scaled(user, item, __fmul_rn(rate, rating), rate, decay, lanes);
}

// Logs the positions of edge e in its nodes' histories; the caller owns both nodes.
__device__ __forceinline__ void log_update(long e, int user, int item, int* user_clock, int* item_clock, int* user_rank,
                                           int* item_rank) {
#if LOG
    if (lane_in_group() == 0) {
        const int u = __ldcg(user_clock + user), i = __ldcg(item_clock + item);
        user_rank[e] = u;
        item_rank[e] = i;
        __stcg(user_clock + user, u + 1);
        __stcg(item_clock + item, i + 1);
    }
#endif
}

// Sum over the threads of a warp, valid in lane 0; a block of fewer than 32 threads is one short warp.
template <class T> __device__ __forceinline__ T warp_sum(T value) {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    for (int width = 16; width; width /= 2) {
        const T other = __shfl_xor_sync(full_mask, value, width);
        if ((block_thread() ^ width) < threads) value += other;
    }
    return value;
}

// Number and checksum of the edges that a thread applied. Every timed run compares both with those of all edges, which
// detects an edge left out or applied twice, at a few integer instructions per edge and no memory traffic.
struct Tally {
    unsigned long long count = 0, sum = 0;
    __device__ __forceinline__ void add(long e) {
        ++count;
        sum += ((unsigned)e ^ ((unsigned)e >> 15)) * 0x9E3779B1u;
    }
    __device__ __forceinline__ void report(unsigned long long* applied) {  // called by the whole warp
        count = warp_sum(count);
        sum = warp_sum(sum);
        if (lane_id() == 0 && count) {
            atomicAdd(applied, count);
            atomicAdd(applied + 1, sum);
        }
    }
};

__device__ __forceinline__ void delay_cycles(int cycles) {
#ifndef LOCKSTEP_HOST
    for (const long long begin = clock64(); clock64() - begin < cycles;) {}
#endif
}

// Locks taken by single threads: 0 free, 1 held. Neither call orders anything: the caller fences once after the locks
// are taken and once before they are given back, however many they are.
__device__ __forceinline__ bool try_lock(int* lock) {
    if (LOCK_DELAY) delay_cycles(LOCK_DELAY);
    return atomicCAS(lock, 0, 1) == 0;
}
__device__ __forceinline__ void unlock(int* lock) { store_relaxed(lock, 0); }

__device__ __forceinline__ void delayed_barrier(unsigned* barrier) {
    if (BARRIER_DELAY) delay_cycles(BARRIER_DELAY);
    grid_barrier(barrier);
}
