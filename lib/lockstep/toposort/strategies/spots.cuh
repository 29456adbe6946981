// Shared memory by address: what is done there with records (indexed.cuh).
//
// A pointer that takes turns is one to any memory, and every access through it is dearer; an address in shared memory is 32 bits.
// And an access is issued here and now, where it is written: left alone, the compiler would move it to where the value is used.
#pragma once

#ifndef CHUNK
#define CHUNK 16
#endif

#ifdef LOCKSTEP_HOST
typedef unsigned* Spot;
__device__ inline Spot spot(void* p) { return static_cast<unsigned*>(p); }
__device__ inline Spot skip(Spot p, unsigned words) { return p + words; }
__device__ inline Spot skip_bytes(Spot p, unsigned bytes) { return p + bytes / 4; }
__device__ inline unsigned get_there(Spot p) { return load_relaxed(p); }
__device__ inline uint2 get_two(Spot p) { return make_uint2(load_relaxed(p), load_relaxed(p + 1)); }
__device__ inline void put_there(Spot p, unsigned value) { store_relaxed(p, value); }
__device__ inline void put_two(Spot p, unsigned x, unsigned y) {
    put_there(p, x);
    put_there(p + 1, y);
}
__device__ inline unsigned add_there(Spot p, unsigned value) { return atomicAdd(p, value); }
__device__ inline void add_two(const Spot* p, const unsigned* values, unsigned* before) {
    for (int j = 0; j < 2; ++j) before[j] = add_there(p[j], values[j]);
}
__device__ inline void or_there(Spot p, unsigned value) { atomicOr(p, value); }
__device__ inline void put_if(bool wanted, Spot p, unsigned value) {
    if (wanted) put_there(p, value);
}
__device__ inline void ask_for(bool, const char*, Spot) {}
__device__ inline void asked_done() {}
__device__ inline uint2 fetch(const uint2* p) { return *p; }
#else
typedef unsigned Spot;
__device__ __forceinline__ Spot spot(void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ Spot skip(Spot p, unsigned words) { return p + 4 * words; }
__device__ __forceinline__ Spot skip_bytes(Spot p, unsigned bytes) { return p + bytes; }
__device__ __forceinline__ unsigned get_there(Spot p) {
    unsigned v;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(p) : "memory");
    return v;
}
__device__ __forceinline__ uint2 get_two(Spot p) {
    uint2 v;
    asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(p) : "memory");
    return v;
}
__device__ __forceinline__ void put_there(Spot p, unsigned value) {
    asm volatile("st.volatile.shared.u32 [%0], %1;" : : "r"(p), "r"(value) : "memory");
}
__device__ __forceinline__ void put_two(Spot p, unsigned x, unsigned y) {
    asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %2};" : : "r"(p), "r"(x), "r"(y) : "memory");
}
__device__ __forceinline__ unsigned add_there(Spot p, unsigned value) {
    unsigned before;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "r"(p), "r"(value) : "memory");
    return before;
}
// Both are under way before an answer is looked at.
__device__ __forceinline__ void add_two(const Spot* p, const unsigned* values, unsigned* before) {
    asm volatile("atom.shared.add.u32 %0, [%2], %3;\n\tatom.shared.add.u32 %1, [%4], %5;"
                 : "=&r"(before[0]), "=&r"(before[1])
                 : "r"(p[0]), "r"(values[0]), "r"(p[1]), "r"(values[1])
                 : "memory");
}
__device__ __forceinline__ void or_there(Spot p, unsigned value) {
    asm volatile("red.shared.or.b32 [%0], %1;" : : "r"(p), "r"(value) : "memory");
}
// Without a branch.
__device__ __forceinline__ void put_if(bool wanted, Spot p, unsigned value) {
    asm volatile("{\n\t.reg .pred a;\n\tsetp.ne.u32 a, %0, 0;\n\t@a st.volatile.shared.u32 [%1], %2;\n\t}"
                 :
                 : "r"(static_cast<unsigned>(wanted)), "r"(p), "r"(value)
                 : "memory");
}
// If `wanted`, have a chunk of a record brought near, without waiting for it. What comes goes to a spare word that nobody reads: an
// instruction to fetch ahead brings it to L2 only, and a load into a register holds up others.
__device__ __forceinline__ void ask_for(bool wanted, const char* record, Spot spare) {
    asm volatile("{\n\t.reg .pred a;\n\tsetp.ne.u32 a, %0, 0;\n\t@a cp.async.ca.shared.global [%1], [%2], 4;\n\t"
#if CHUNK > 8  // memory comes in stretches of 32 bytes
                 "@a cp.async.ca.shared.global [%1], [%2+32], 4;\n\t"
#endif
                 "}"
                 :
                 : "r"(static_cast<unsigned>(wanted)), "r"(spare), "l"(record)
                 : "memory");
}
// The thread waits for all that it has asked for: before the spare words are anything else's.
__device__ __forceinline__ void asked_done() { asm volatile("cp.async.wait_all;" : : : "memory"); }
// As for the kernel's other rows: first-level cache allowed, for they do not change after the grid barrier that the reader has passed.
__device__ __forceinline__ uint2 fetch(const uint2* p) {
    uint2 v;
    asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "l"(p));
    return v;
}
#endif
