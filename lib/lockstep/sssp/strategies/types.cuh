// Types of the shortest-path kernels: distances, arcs, and the atomic that lowers a distance.
//
// DISTANCE is `unsigned` (narrow) or `double` (wide). Non-negative distances only.
//   narrow: integers below 2^31 - 1, which encodes "not reached". Half the bytes, native shared-memory atomics; the
//           host also scales weights that are multiples of a power of two to integers, so nothing is rounded.
//   wide:   IEEE doubles, infinity for "not reached". The bits of non-negative doubles order like unsigned integers, so
//           an integer atomicMin serves.
// Sums must not overflow: kernels do not expand vertices farther than `limit` = (largest finite distance) - (largest
// weight), but set a control word; the host then takes the wider type. This costs one comparison per vertex, none per
// arc (chaotic.cu: one per arc).
#pragma once
#include "device.cuh"

#ifndef DISTANCE
#define DISTANCE unsigned
#endif

template <class T> struct DistanceTraits;
template <> struct DistanceTraits<unsigned> {
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
template <> struct DistanceTraits<double> {
    static constexpr bool narrow = false;
    struct alignas(16) Arc { double weight; long long target; };
    typedef ulonglong2 ArcWords;
    static __device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
    static __device__ __forceinline__ double lower(double* p, double v) {
        const unsigned long long old = atomicMin(reinterpret_cast<unsigned long long*>(p),
                                                 static_cast<unsigned long long>(__double_as_longlong(v)));
        return __longlong_as_double(static_cast<long long>(old));
    }
    static __device__ __forceinline__ double sum(double a, double b) {  // always larger than a
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
typedef DistanceTraits<Distance> Traits;
typedef Traits::Arc Arc;

__device__ __forceinline__ Distance infinity() { return Traits::infinity(); }
// Lowers *p to v if v is smaller; returns the old value.
__device__ __forceinline__ Distance lower(Distance* p, Distance v) { return Traits::lower(p, v); }
// The same without the old value: a reduction, which other blocks see late unless a fence orders it.
__device__ __forceinline__ void send(Distance* p, Distance v) { LOCKSTEP_REDUCTION(lower, p, v); }
// a + b, or infinity on overflow; wide: always larger than a.
__device__ __forceinline__ Distance sum(Distance a, Distance b) { return Traits::sum(a, b); }
// The smallest value of a warp, in every lane.
__device__ __forceinline__ Distance warp_min(Distance v) { return Traits::warp_min(v); }

// Loads an arc by one 8- or 16-byte access through the read-only cache: arcs never change.
__device__ __forceinline__ Arc load_arc(const Arc* p) {
    const Traits::ArcWords words = __ldg(reinterpret_cast<const Traits::ArcWords*>(p));
    Arc arc;
    memcpy(&arc, &words, sizeof arc);
    return arc;
}
