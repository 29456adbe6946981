// The emulator's interface to kernels: the built-ins of CUDA C++ for a host compiler.
//
// The emulator puts this text before a .cu file and compiles both with the system's C++ compiler. Threads are fibers on
// one OS thread, so an atomic needs no lock: no other thread runs between its read and its write. What a thread can
// observe of others depends on the points at which control may switch to another fiber; see host_runtime.cpp. The
// memory here is sequentially consistent but for LOCKSTEP_REDUCTION: a missing fence shows in the results of what goes
// through it, else as a data race, if races are searched for (host_races.hpp).
#pragma once
#define LOCKSTEP_HOST 1
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __cluster_dims__(...)
#define __grid_constant__
#define __shared__ static_assert(false, "static __shared__ is shared between blocks here: use DYNAMIC_SHARED");
// Under fuzz="memory" the kernels' own loads and stores are instrumented, these functions' must not be.
#define LOCKSTEP_UNSEEN __attribute__((no_sanitize("thread")))
#define LOCKSTEP_PLAIN __attribute__((no_sanitize("thread"), unused)) static inline

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x = 1, y = 1, z = 1; };
#define LOCKSTEP_VECTOR(name, T, bytes2, bytes4) \
    struct alignas(bytes2) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct alignas(bytes4) name##4 { T x, y, z, w; }; \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
LOCKSTEP_VECTOR(char, signed char, 2, 4)
LOCKSTEP_VECTOR(uchar, unsigned char, 2, 4)
LOCKSTEP_VECTOR(short, short, 4, 8)
LOCKSTEP_VECTOR(ushort, unsigned short, 4, 8)
LOCKSTEP_VECTOR(int, int, 8, 16)
#undef LOCKSTEP_VECTOR
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(16) longlong2 { long long x, y; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

constexpr unsigned full_mask = 0xffffffffu;
constexpr int warpSize = 32;

namespace lockstep_host {

struct Block;
struct Thread {                 // the part of a thread that kernels read; Fiber (host_state.hpp) adds the rest
    uint3 index;
    unsigned linear;
    Block* block;
    uint64_t result;            // of the barrier or warp operation that just ended
};
struct Block {
    uint3 index;
    unsigned linear;
    unsigned char* shared;
};

// Events at which the scheduler may switch threads. Order as in host.py's EVENTS.
enum Event { READ, WRITE, ATOMIC, LOAD, STORE, FENCE, BARRIER, GRID_BARRIER, WARP, PAUSE, MARK };

extern Thread* current;
extern dim3 block_dim, grid_dim;
extern uint64_t clock_steps;

// Memory order of an atomic, relaxed, acquire or release access, and of a fence; for host_races.hpp.
enum Ordering { LOADED, ACQUIRED, STORED, RELEASED, CHANGED };
void ordered(Ordering how, const volatile void* address, int bytes);
void fenced(bool device, bool sequential);
void before(Event event, const volatile void* address);            // may switch threads: fuzzed, or kTimeSlice used up
void after(Event event, const volatile void* address, uint64_t seen, uint64_t left, int bytes);  // into the trace
void yield();                                                      // switches threads
uint64_t block_barrier(const char* where, int operation, int value);
void whole_grid_barrier(const char* where, unsigned* state);
typedef void (*Reduction)(void* address, uint64_t value);
void reduce_late(Reduction perform, void* address, uint64_t value);
void perform_late();                                               // the thread's, and its block's before a barrier
enum WarpOp { SYNC, SHUFFLE, BALLOT, ANY, ALL, MATCH_ANY, MATCH_ALL, ADD, MIN_S, MAX_S, MIN_U, MAX_U, AND, OR, XOR };
uint64_t warp(const char* where, WarpOp operation, unsigned mask, uint64_t value, int source);

template <class T> LOCKSTEP_PLAIN uint64_t bits(T v) {
    uint64_t word = 0;
    static_assert(sizeof(T) <= 8, "at most 8 bytes");
    std::memcpy(&word, &v, sizeof v);
    return word;
}
template <class T> LOCKSTEP_PLAIN T from_bits(uint64_t word) {
    T v;
    std::memcpy(&v, &word, sizeof v);
    return v;
}
template <class T> struct Same { typedef T type; };                // keeps a parameter out of type deduction
template <class T, class F> LOCKSTEP_PLAIN T atomic(T* p, F next) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics take 4 or 8 bytes");
    before(ATOMIC, p);
    ordered(CHANGED, p, sizeof(T));
    const T old = *p;
    const T left = next(old);
    *p = left;
    after(ATOMIC, p, bits(old), bits(left), sizeof(T));
    return old;
}
}  // namespace lockstep_host

#define threadIdx (lockstep_host::current->index)
#define blockIdx (lockstep_host::current->block->index)
#define blockDim lockstep_host::block_dim
#define gridDim lockstep_host::grid_dim
#define LOCKSTEP_TEXT2(x) #x
#define LOCKSTEP_TEXT(x) LOCKSTEP_TEXT2(x)
#define LOCKSTEP_HERE __FILE__ ":" LOCKSTEP_TEXT(__LINE__)
#define DYNAMIC_SHARED(type, name) type* const name = reinterpret_cast<type*>(lockstep_host::current->block->shared)

// ---- barriers, fences, yielding
#define __syncthreads() ((void)lockstep_host::block_barrier(LOCKSTEP_HERE, 0, 0))
#define __syncthreads_count(p) ((int)lockstep_host::block_barrier(LOCKSTEP_HERE, 1, (p) != 0))
#define __syncthreads_or(p) ((int)lockstep_host::block_barrier(LOCKSTEP_HERE, 2, (p) != 0))
#define __syncthreads_and(p) ((int)lockstep_host::block_barrier(LOCKSTEP_HERE, 3, (p) != 0))
#define grid_barrier(state) (lockstep_host::whole_grid_barrier(LOCKSTEP_HERE, (state)))
LOCKSTEP_PLAIN void lockstep_fence(bool device, bool sequential) {  // else of a block, or acquire and release alone
    lockstep_host::perform_late();
    lockstep_host::before(lockstep_host::FENCE, nullptr);
    lockstep_host::fenced(device, sequential);
}
#define __threadfence() lockstep_fence(true, true)
#define __threadfence_block() lockstep_fence(false, true)
#define __threadfence_system() lockstep_fence(true, true)
#define fence_gpu() lockstep_fence(true, false)
#define fence_block() lockstep_fence(false, false)
LOCKSTEP_PLAIN void lockstep_nanosleep(unsigned) { lockstep_host::yield(); }
#define __nanosleep(ns) lockstep_nanosleep(ns)
#define pause(ns) lockstep_nanosleep(ns)
LOCKSTEP_PLAIN long long clock64() {                   // counts steps, and lets others run: a thread may spin on it
    lockstep_host::before(lockstep_host::PAUSE, nullptr);
    return (long long)lockstep_host::clock_steps;
}
LOCKSTEP_PLAIN void trace_event(int kind, long a, long b) {
    lockstep_host::after(lockstep_host::MARK, (const void*)(intptr_t)kind, (uint64_t)a, (uint64_t)b, 8);
}
LOCKSTEP_PLAIN unsigned block_thread() { return lockstep_host::current->linear; }

// ---- warps
#define __syncwarp(...) ((void)lockstep_host::warp(LOCKSTEP_HERE, lockstep_host::SYNC, lockstep_mask(__VA_ARGS__), 0, 0))
LOCKSTEP_PLAIN unsigned lockstep_mask(unsigned mask = full_mask) { return mask; }
// Reports only the calling lane: legal, and exposes kernels that assume lockstep execution.
LOCKSTEP_PLAIN unsigned __activemask() { return 1u << (lockstep_host::current->linear & 31); }
template <class T> LOCKSTEP_PLAIN T lockstep_shuffle(const char* where, unsigned mask, T v, int source) {
    return lockstep_host::from_bits<T>(
        lockstep_host::warp(where, lockstep_host::SHUFFLE, mask, lockstep_host::bits(v), source));
}
LOCKSTEP_PLAIN int lockstep_lane(int mode, int distance, int width) {
    const int lane = (int)(lockstep_host::current->linear & 31), base = lane & ~(width - 1);
    int source = lane;
    if (mode == 0) source = base + (distance & (width - 1));
    if (mode == 1) source = lane - distance < base ? lane : lane - distance;
    if (mode == 2) source = lane + distance >= base + width ? lane : lane + distance;
    if (mode == 3) source = (lane ^ distance) >= base + width ? lane : lane ^ distance;
    return source;
}
LOCKSTEP_PLAIN int lockstep_source(int mode, int distance, int width = 32) {
    return lockstep_lane(mode, distance, width);
}
#define __shfl_sync(mask, v, ...) lockstep_shuffle(LOCKSTEP_HERE, (mask), (v), lockstep_source(0, __VA_ARGS__))
#define __shfl_up_sync(mask, v, ...) lockstep_shuffle(LOCKSTEP_HERE, (mask), (v), lockstep_source(1, __VA_ARGS__))
#define __shfl_down_sync(mask, v, ...) lockstep_shuffle(LOCKSTEP_HERE, (mask), (v), lockstep_source(2, __VA_ARGS__))
#define __shfl_xor_sync(mask, v, ...) lockstep_shuffle(LOCKSTEP_HERE, (mask), (v), lockstep_source(3, __VA_ARGS__))
#define LOCKSTEP_WARP(operation, mask, v) lockstep_host::warp(LOCKSTEP_HERE, lockstep_host::operation, (mask), (v), 0)
#define __ballot_sync(mask, p) ((unsigned)LOCKSTEP_WARP(BALLOT, mask, (p) != 0))
#define __any_sync(mask, p) ((int)LOCKSTEP_WARP(ANY, mask, (p) != 0))
#define __all_sync(mask, p) ((int)LOCKSTEP_WARP(ALL, mask, (p) != 0))
#define __match_any_sync(mask, v) ((unsigned)LOCKSTEP_WARP(MATCH_ANY, mask, lockstep_host::bits(v)))
template <class T> LOCKSTEP_PLAIN T lockstep_reduce(const char* where, lockstep_host::WarpOp s, lockstep_host::WarpOp u,
                                                    unsigned mask, T v) {
    static_assert(sizeof(T) == 4 && std::is_integral<T>::value, "warp reductions take int or unsigned");
    return (T)lockstep_host::warp(where, std::is_signed<T>::value ? s : u, mask, lockstep_host::bits(v), 0);
}
#define LOCKSTEP_REDUCE(s, u, mask, v) lockstep_reduce(LOCKSTEP_HERE, lockstep_host::s, lockstep_host::u, (mask), (v))
#define __reduce_add_sync(mask, v) LOCKSTEP_REDUCE(ADD, ADD, mask, v)
#define __reduce_min_sync(mask, v) LOCKSTEP_REDUCE(MIN_S, MIN_U, mask, v)
#define __reduce_max_sync(mask, v) LOCKSTEP_REDUCE(MAX_S, MAX_U, mask, v)
#define __reduce_and_sync(mask, v) LOCKSTEP_REDUCE(AND, AND, mask, v)
#define __reduce_or_sync(mask, v) LOCKSTEP_REDUCE(OR, OR, mask, v)
#define __reduce_xor_sync(mask, v) LOCKSTEP_REDUCE(XOR, XOR, mask, v)

// ---- atomics: global and shared memory alike
#define LOCKSTEP_ATOMIC(name, expression) \
    template <class T> LOCKSTEP_PLAIN T name(T* p, typename lockstep_host::Same<T>::type v) { \
        return lockstep_host::atomic(p, [v](T old) LOCKSTEP_UNSEEN -> T { (void)old; return expression; }); \
    } \
    template <class T> LOCKSTEP_PLAIN T name##_block(T* p, typename lockstep_host::Same<T>::type v) { return name(p, v); }
LOCKSTEP_ATOMIC(atomicAdd, (T)(old + v))
LOCKSTEP_ATOMIC(atomicSub, (T)(old - v))
LOCKSTEP_ATOMIC(atomicMin, v < old ? v : old)
LOCKSTEP_ATOMIC(atomicMax, v > old ? v : old)
LOCKSTEP_ATOMIC(atomicAnd, (T)(old & v))
LOCKSTEP_ATOMIC(atomicOr, (T)(old | v))
LOCKSTEP_ATOMIC(atomicXor, (T)(old ^ v))
LOCKSTEP_ATOMIC(atomicExch, v)
LOCKSTEP_ATOMIC(atomicInc, old >= v ? (T)0 : (T)(old + 1))
LOCKSTEP_ATOMIC(atomicDec, old == 0 || old > v ? v : (T)(old - 1))
#undef LOCKSTEP_ATOMIC
// reduce(p, v) without its result. A GPU performs it at any time before the next fence that orders it; when fuzzed, so
// does the emulator.
#define LOCKSTEP_REDUCTION(reduce, p, v) lockstep_host::reduction<reduce>(p, v)
namespace lockstep_host {
template <auto reduce, class T> LOCKSTEP_PLAIN void reduction(T* p, T v) {
    reduce_late([](void* at, uint64_t value) LOCKSTEP_UNSEEN { reduce(static_cast<T*>(at), from_bits<T>(value)); }, p,
                bits(v));
}
}  // namespace lockstep_host
template <class T> LOCKSTEP_PLAIN T atomicCAS(T* p, typename lockstep_host::Same<T>::type expected,
                                             typename lockstep_host::Same<T>::type desired) {
    const T old = lockstep_host::atomic(
        p, [expected, desired](T seen) LOCKSTEP_UNSEEN -> T { return seen == expected ? desired : seen; });
    if (old != expected) lockstep_host::yield();       // a lock or a retry loop: let the owner run
    return old;
}
template <class T> LOCKSTEP_PLAIN T atomicCAS_block(T* p, typename lockstep_host::Same<T>::type expected,
                                                   typename lockstep_host::Same<T>::type desired) {
    return atomicCAS(p, expected, desired);
}

// ---- loads and stores that other blocks see, and cache hints
template <class T> LOCKSTEP_PLAIN T lockstep_load(const T* p, lockstep_host::Ordering how = lockstep_host::LOADED) {
    lockstep_host::before(lockstep_host::LOAD, p);
    lockstep_host::ordered(how, p, sizeof(T));
    const T v = *p;
    if (sizeof(T) <= 8) {
        uint64_t seen = 0;
        std::memcpy(&seen, &v, sizeof(T) < 8 ? sizeof(T) : 8);
        lockstep_host::after(lockstep_host::LOAD, p, seen, seen, sizeof(T));
    }
    return v;
}
template <class T> LOCKSTEP_PLAIN T load_relaxed(const T* p) { return lockstep_load(p); }
template <class T> LOCKSTEP_PLAIN T load_acquire(const T* p) {
    lockstep_host::yield();                            // always: a thread that waits for a flag lets others run
    return lockstep_load(p, lockstep_host::ACQUIRED);
}
template <class T, class V>
LOCKSTEP_PLAIN void lockstep_store(T* p, V value, lockstep_host::Ordering how) {
    if (how == lockstep_host::RELEASED) lockstep_host::perform_late();
    lockstep_host::before(lockstep_host::STORE, p);
    lockstep_host::ordered(how, p, sizeof(T));
    const T old = *p;
    *p = static_cast<T>(value);
    lockstep_host::after(lockstep_host::STORE, p, lockstep_host::bits(old), lockstep_host::bits(*p), sizeof(T));
}
template <class T, class V> LOCKSTEP_PLAIN void store_relaxed(T* p, V value) {
    lockstep_store(p, value, lockstep_host::STORED);
}
template <class T, class V> LOCKSTEP_PLAIN void store_release(T* p, V value) {
    lockstep_store(p, value, lockstep_host::RELEASED);
}
template <class T> LOCKSTEP_PLAIN T __ldcg(const T* p) { return lockstep_load(p); }
template <class T> LOCKSTEP_PLAIN T __ldcv(const T* p) { return lockstep_load(p); }
template <class T> inline T __ldca(const T* p) { return *p; }
template <class T> inline T __ldcs(const T* p) { return *p; }
template <class T> inline T __ldg(const T* p) { return *p; }
template <class T> inline void __stcg(T* p, typename lockstep_host::Same<T>::type v) { *p = v; }
template <class T> inline void __stcs(T* p, typename lockstep_host::Same<T>::type v) { *p = v; }
template <class T> inline void __stwt(T* p, typename lockstep_host::Same<T>::type v) { *p = v; }

// ---- integers, bits, floating point
inline int __popc(unsigned v) { return __builtin_popcount(v); }
inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
inline int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
inline int __ffs(int v) { return __builtin_ffs(v); }
inline int __ffsll(long long v) { return __builtin_ffsll(v); }
inline unsigned __brev(unsigned v) {
    unsigned r = 0;
    for (int i = 0; i < 32; ++i) r |= ((v >> i) & 1u) << (31 - i);
    return r;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
    return (unsigned)((((uint64_t)hi << 32 | lo) << (s & 31)) >> 32);
}
template <class To, class From> inline To lockstep_cast(From v) {
    static_assert(sizeof(To) == sizeof(From), "same size");
    To r;
    std::memcpy(&r, &v, sizeof r);
    return r;
}
inline int __float_as_int(float v) { return lockstep_cast<int>(v); }
inline unsigned __float_as_uint(float v) { return lockstep_cast<unsigned>(v); }
inline float __int_as_float(int v) { return lockstep_cast<float>(v); }
inline float __uint_as_float(unsigned v) { return lockstep_cast<float>(v); }
inline long long __double_as_longlong(double v) { return lockstep_cast<long long>(v); }
inline double __longlong_as_double(long long v) { return lockstep_cast<double>(v); }
template <class A, class B> inline typename std::common_type<A, B>::type min(A a, B b) {
    typedef typename std::common_type<A, B>::type C;
    return (C)b < (C)a ? (C)b : (C)a;
}
template <class A, class B> inline typename std::common_type<A, B>::type max(A a, B b) {
    typedef typename std::common_type<A, B>::type C;
    return (C)a < (C)b ? (C)b : (C)a;
}
inline float rsqrtf(float v) { return 1.0f / sqrtf(v); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __saturatef(float v) { return v < 0 ? 0.0f : v > 1 ? 1.0f : v; }
