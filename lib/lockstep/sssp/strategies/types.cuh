// What the shortest-path kernels compute with: distances, arcs, and the one atomic that lowers a distance.
//
// DISTANCE is `unsigned` (narrow) or `double` (wide). Non-negative distances only.
//   narrow: whole numbers below 2^31 - 1, which stands for "not reached". Half the bytes, native shared-memory atomics;
//           weights that are multiples of a power of two arrive here too, scaled by the host, so nothing is rounded.
//   wide:   IEEE doubles, infinity for "not reached". The bits of non-negative doubles sort as unsigned integers, so
//           the same integer atomicMin serves.
// A sum may not leave the type: kernels refuse to go on from a vertex farther than `limit` = (largest finite distance)
// - (largest weight), and say so in a control word; the host then takes the wider type. One comparison a vertex, none
// an arc.
#pragma once
#include "device.cuh"

#ifndef DISTANCE
#define DISTANCE unsigned
#endif

template <class T> struct Kind;
template <> struct Kind<unsigned> {
    static constexpr bool narrow = true;
    struct alignas(8) Arc { int target; unsigned weight; };
    typedef uint2 ArcWords;
    static __device__ __forceinline__ unsigned infinity() { return 0x7fffffffu; }
    static __device__ __forceinline__ unsigned lower(unsigned* p, unsigned v) { return atomicMin(p, v); }
    static __device__ __forceinline__ unsigned sum(unsigned a, unsigned b) {
        return a + b < infinity() ? a + b : infinity();
    }
    static __device__ __forceinline__ unsigned warp_min(unsigned v) { return __reduce_min_sync(full_mask, v); }
};
template <> struct Kind<double> {
    static constexpr bool narrow = false;
    struct alignas(16) Arc { double weight; long long target; };
    typedef ulonglong2 ArcWords;
    static __device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
    static __device__ __forceinline__ double lower(double* p, double v) {
        const unsigned long long old = atomicMin(reinterpret_cast<unsigned long long*>(p),
                                                 static_cast<unsigned long long>(__double_as_longlong(v)));
        return __longlong_as_double(static_cast<long long>(old));
    }
    static __device__ __forceinline__ double sum(double a, double b) {  // larger than a, however small b is
        return a + b > a ? a + b : __longlong_as_double(__double_as_longlong(a) + 1);
    }
    static __device__ __forceinline__ double warp_min(double v) {
        for (int step = 16; step; step >>= 1) {
            const double other = __shfl_xor_sync(full_mask, v, step);
            v = other < v ? other : v;
        }
        return v;
    }
};
typedef DISTANCE Distance;
typedef Kind<Distance> Type;
typedef Type::Arc Arc;

__device__ __forceinline__ Distance infinity() { return Type::infinity(); }
// Lowers *p to v if v is smaller; returns what was there before.
__device__ __forceinline__ Distance lower(Distance* p, Distance v) { return Type::lower(p, v); }
// A threshold: the sum, or infinity where it would leave the type.
__device__ __forceinline__ Distance sum(Distance a, Distance b) { return Type::sum(a, b); }
// The smallest value of a warp, in every lane.
__device__ __forceinline__ Distance warp_min(Distance v) { return Type::warp_min(v); }

// An arc, by one load of its 8 or 16 bytes; arcs never change, so any cache may keep them.
__device__ __forceinline__ Arc load_arc(const Arc* p) {
    const Type::ArcWords words = __ldg(reinterpret_cast<const Type::ArcWords*>(p));
    Arc arc;
    memcpy(&arc, &words, sizeof arc);
    return arc;
}
