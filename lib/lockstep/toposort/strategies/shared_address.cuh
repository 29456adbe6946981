// Accesses to shared memory by 32-bit address, for records (indexed.cuh).
//
// A pointer that alternates between buffers is compiled as a generic one, and generic accesses cost more instructions
// than those to shared memory. Inline assembly also fixes where an access is issued: the compiler would move it to
// where its value is used.
#pragma once

#ifndef CHUNK
#define CHUNK 16
#endif

#ifdef LOCKSTEP_HOST
typedef unsigned* SharedAddress;
__device__ inline SharedAddress shared_address(void* p) { return static_cast<unsigned*>(p); }
__device__ inline SharedAddress skip(SharedAddress p, unsigned words) { return p + words; }
__device__ inline SharedAddress skip_bytes(SharedAddress p, unsigned bytes) { return p + bytes / 4; }
__device__ inline unsigned load_at(SharedAddress p) { return load_relaxed(p); }
__device__ inline uint2 load_two(SharedAddress p) { return make_uint2(load_relaxed(p), load_relaxed(p + 1)); }
__device__ inline void store_at(SharedAddress p, unsigned value) { store_relaxed(p, value); }
__device__ inline void store_two(SharedAddress p, unsigned x, unsigned y) {
    store_at(p, x);
    store_at(p + 1, y);
}
__device__ inline unsigned add_at(SharedAddress p, unsigned value) { return atomicAdd(p, value); }
__device__ inline void add_two(const SharedAddress* p, const unsigned* values, unsigned* before) {
    for (int j = 0; j < 2; ++j) before[j] = add_at(p[j], values[j]);
}
__device__ inline void or_at(SharedAddress p, unsigned value) { atomicOr(p, value); }
__device__ inline void store_if(bool wanted, SharedAddress p, unsigned value) {
    if (wanted) store_at(p, value);
}
__device__ inline void prefetch(bool, const char*, SharedAddress) {}
__device__ inline void prefetch_wait() {}
__device__ inline uint2 fetch(const uint2* p) { return *p; }
#else
typedef unsigned SharedAddress;
__device__ __forceinline__ SharedAddress shared_address(void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ __forceinline__ SharedAddress skip(SharedAddress p, unsigned words) { return p + 4 * words; }
__device__ __forceinline__ SharedAddress skip_bytes(SharedAddress p, unsigned bytes) { return p + bytes; }
__device__ __forceinline__ unsigned load_at(SharedAddress p) {
    unsigned v;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(p) : "memory");
    return v;
}
__device__ __forceinline__ uint2 load_two(SharedAddress p) {
    uint2 v;
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(p) : "memory");
    return v;
}
__device__ __forceinline__ void store_at(SharedAddress p, unsigned value) {
    asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(p), "r"(value) : "memory");
}
__device__ __forceinline__ void store_two(SharedAddress p, unsigned x, unsigned y) {
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};" : : "r"(p), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ unsigned add_at(SharedAddress p, unsigned value) {
    unsigned before;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "r"(p), "r"(value) : "memory");
    return before;
}
// Both are issued before either result is used.
__device__ __forceinline__ void add_two(const SharedAddress* p, const unsigned* values, unsigned* before) {
    asm volatile("atom.shared.add.u32 %0, [%2], %3;\n\tatom.shared.add.u32 %1, [%4], %5;"
                 : "=&r"(before[0]), "=&r"(before[1])
                 : "r"(p[0]), "r"(values[0]), "r"(p[1]), "r"(values[1])
                 : "memory");
}
__device__ __forceinline__ void or_at(SharedAddress p, unsigned value) {
    asm volatile("red.shared.or.b32 [%0], %1;" : : "r"(p), "r"(value) : "memory");
}
// Without a branch.
__device__ __forceinline__ void store_if(bool wanted, SharedAddress p, unsigned value) {
    asm volatile("{\n\t.reg .pred a;\n\tsetp.ne.u32 a, %0, 0;\n\t@a st.volatile.shared.u32 [%1], %2;\n\t}"
                 :
                 : "r"(static_cast<unsigned>(wanted)), "r"(p), "r"(value)
                 : "memory");
}
// If `wanted`, prefetches a chunk of a record into L1 by an asynchronous copy to a dummy word:
// prefetch instructions reach L2 only, and a load into a register would stall later ones.
__device__ __forceinline__ void prefetch(bool wanted, const char* record, SharedAddress dummy) {
    asm volatile("{\n\t.reg .pred a;\n\tsetp.ne.u32 a, %0, 0;\n\t@a cp.async.ca.shared.global [%1], [%2], 4;\n\t"
#if CHUNK > 8  // a sector has 32 bytes
                 "@a cp.async.ca.shared.global [%1], [%2+32], 4;\n\t"
#endif
                 "}"
                 :
                 : "r"(static_cast<unsigned>(wanted)), "r"(dummy), "l"(record)
                 : "memory");
}
// Waits for all of the thread's prefetches, before the dummy words are reused.
__device__ __forceinline__ void prefetch_wait() { asm volatile("cp.async.wait_all;" : : : "memory"); }
// As for the kernel's other rows, the L1 cache is allowed: they do not change after the grid barrier that the reader
// has passed.
__device__ __forceinline__ uint2 fetch(const uint2* p) {
    uint2 v;
    asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
    return v;
}
#endif
