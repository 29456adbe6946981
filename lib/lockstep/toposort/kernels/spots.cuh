// Shared memory by address: what is done there with records (counted.cuh, indexed.cuh).
//
// A pointer that takes turns is one to any memory, and every access through it is dearer; an address in shared memory is 32 bits.
// And an access is issued here and now, where it is written: left alone, the compiler would move it to where the value is used.
#pragma once

#ifndef CHUNK
#define CHUNK 8
#endif
constexpr int chunk_bytes = 4 * CHUNK;  // of a record, fetched in one go

#ifdef LOCKSTEP_HOST
typedef unsigned* Spot;
__device__ inline Spot spot(void* p) { return static_cast<unsigned*>(p); }
__device__ inline Spot skip(Spot p, unsigned words) { return p + words; }
__device__ inline unsigned get_there(Spot p) { return load_relaxed(p); }
__device__ inline uint2 get_two(Spot p) { return make_uint2(load_relaxed(p), load_relaxed(p + 1)); }
__device__ inline uint4 get_four(Spot p) {
    return make_uint4(load_relaxed(p), load_relaxed(p + 1), load_relaxed(p + 2), load_relaxed(p + 3));
}
__device__ inline void put_there(Spot p, unsigned value) { store_relaxed(p, value); }
__device__ inline void put_two(Spot p, unsigned x, unsigned y) {
    put_there(p, x);
    put_there(p + 1, y);
}
__device__ inline unsigned add_there(Spot p, unsigned value) { return atomicAdd(p, value); }
__device__ inline unsigned swap_there(Spot p, unsigned expected, unsigned value) { return atomicCAS(p, expected, value); }
__device__ inline unsigned exchange_there(Spot p, unsigned value) { return atomicExch(p, value); }
// Take one from *p if `known`, exchange `value` for `expected` if `enters`: at most one of them. What was there, for each.
__device__ inline void count_or_enter(bool known, bool enters, Spot p, unsigned expected, unsigned value, unsigned& counted,
                                      unsigned& was) {
    if (known) counted = add_there(p, 0xffffffffu);
    if (enters) was = swap_there(p, expected, value);
}
__device__ inline void ask_for(bool, const char*, bool, Spot, unsigned) {}
__device__ inline void asked_done() {}
__device__ inline unsigned fetch(const unsigned* p) { return *p; }
#else
typedef unsigned Spot;
__device__ __forceinline__ Spot spot(void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ Spot skip(Spot p, unsigned words) { return p + 4 * words; }
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
__device__ __forceinline__ uint4 get_four(Spot p) {
    uint4 v;
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(p)
                 : "memory");
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
__device__ __forceinline__ unsigned swap_there(Spot p, unsigned expected, unsigned value) {
    unsigned before;
    asm volatile("atom.shared.cas.b32 %0, [%1], %2, %3;" : "=r"(before) : "r"(p), "r"(expected), "r"(value) : "memory");
    return before;
}
__device__ __forceinline__ unsigned exchange_there(Spot p, unsigned value) {
    unsigned before;
    asm volatile("atom.shared.exch.b32 %0, [%1], %2;" : "=r"(before) : "r"(p), "r"(value) : "memory");
    return before;
}
// Both are under way before an answer is looked at: lanes that count do not wait for those that enter.
__device__ __forceinline__ void count_or_enter(bool known, bool enters, Spot p, unsigned expected, unsigned value,
                                               unsigned& counted, unsigned& was) {
    asm volatile("{\n\t.reg .pred a, b;\n\tsetp.ne.u32 a, %2, 0;\n\tsetp.ne.u32 b, %3, 0;\n\t"
                 "@a atom.shared.add.u32 %0, [%4], %7;\n\t@b atom.shared.cas.b32 %1, [%4], %5, %6;\n\t}"
                 : "+r"(counted), "+r"(was)
                 : "r"(static_cast<unsigned>(known)), "r"(static_cast<unsigned>(enters)), "r"(p), "r"(expected), "r"(value),
                   "r"(0xffffffffu)
                 : "memory");
}
// If `wanted`, have a record's first chunk brought near, and its second one if it has. What comes goes to spare words that nobody
// reads, `apart` from one another. Calls take turns with two pairs: what one asked for has come before the next but one asks.
__device__ __forceinline__ void ask_for(bool wanted, const char* record, bool second, Spot spare, unsigned apart) {
    asm volatile("{\n\t.reg .pred a, b;\n\tsetp.ne.u32 a, %0, 0;\n\tsetp.ne.u32 b, %1, 0;\n\t"
                 "cp.async.wait_group 1;\n\t"
                 "@a cp.async.ca.shared.global [%2], [%4], 4;\n\t@b cp.async.ca.shared.global [%3], [%5], 4;\n\t"
                 "cp.async.commit_group;\n\t}"
                 :
                 : "r"(static_cast<unsigned>(wanted)), "r"(static_cast<unsigned>(wanted && second)), "r"(spare),
                   "r"(skip(spare, apart)), "l"(record), "l"(record + chunk_bytes)
                 : "memory");
}
__device__ __forceinline__ void asked_done() { asm volatile("cp.async.wait_all;" : : : "memory"); }
// As for the kernel's other rows: first-level cache allowed, for they do not change after the grid barrier that the reader has passed.
__device__ __forceinline__ unsigned fetch(const unsigned* p) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p));
    return v;
}
#endif
