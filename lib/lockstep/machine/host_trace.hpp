// The trace of a launch: accesses of all threads in the order in which they happened, and the functions that
// -fsanitize=thread makes the compiler call before plain accesses.
//
// A part of host_runtime.cpp, which compiles all parts as one.
#pragma once
#include "host_state.hpp"

namespace lockstep_host {
namespace {

void note(Event event, const volatile void* address, uint64_t seen, uint64_t left, int bytes) {
    if (trace.size() >= launch->trace_limit) { launch->trace_full = 1; return; }
    Fiber* f = current_fiber();
    trace.push_back({(int64_t)launch->steps, (int64_t)address, (int64_t)seen, (int64_t)left,
                     (int32_t)f->block->linear, (int32_t)f->linear, (int32_t)event, bytes});
}

inline uint64_t peek(const volatile void* p, int bytes) {
    uint64_t v = 0;
    memcpy(&v, const_cast<const void*>(p), bytes < 8 ? bytes : 8);
    return v;
}

void settle_write() {                      // the last announced store has been executed: no thread ran in between
    if (pending_write < 0) return;
    Record& r = trace[pending_write];
    r.after = (int64_t)peek((const void*)r.address, r.bytes);
    pending_write = -1;
}

}  // namespace
}  // namespace lockstep_host

using namespace lockstep_host;

extern "C" __attribute__((visibility("default"))) uint64_t lockstep_trace(const void** records) {
    *records = trace.data();
    return trace.size();
}

// ---- the functions that -fsanitize=thread makes the compiler call before plain accesses

static inline void access(const volatile void* p, int bytes, Event event) {
    if (!current) return;
    before(event, p);
    if (watched()) check_access(p, bytes, event == WRITE, false);
    if (!launch->trace_limit) return;
    const uint64_t seen = peek(p, bytes);  // no thread runs between here and the access itself
    note(event, p, seen, seen, bytes);
    if (event == WRITE && !launch->trace_full) pending_write = (int)trace.size() - 1;
}
#define LOCKSTEP_ACCESS(bytes) \
    extern "C" void __tsan_read##bytes(void* p) { access(p, bytes, READ); } \
    extern "C" void __tsan_write##bytes(void* p) { access(p, bytes, WRITE); } \
    extern "C" void __tsan_unaligned_read##bytes(void* p) { access(p, bytes, READ); } \
    extern "C" void __tsan_unaligned_write##bytes(void* p) { access(p, bytes, WRITE); } \
    extern "C" void __tsan_volatile_read##bytes(void* p) { access(p, bytes, READ); } \
    extern "C" void __tsan_volatile_write##bytes(void* p) { access(p, bytes, WRITE); } \
    extern "C" void __tsan_unaligned_volatile_read##bytes(void* p) { access(p, bytes, READ); } \
    extern "C" void __tsan_unaligned_volatile_write##bytes(void* p) { access(p, bytes, WRITE); } \
    extern "C" void __tsan_read_write##bytes(void* p) { access(p, bytes, WRITE); } \
    extern "C" void __tsan_unaligned_read_write##bytes(void* p) { access(p, bytes, WRITE); }
LOCKSTEP_ACCESS(1)
LOCKSTEP_ACCESS(2)
LOCKSTEP_ACCESS(4)
LOCKSTEP_ACCESS(8)
LOCKSTEP_ACCESS(16)

// A range is accessed in words of eight bytes, each of which is an event of its own.
template <class Touch> inline void in_words(size_t bytes, Touch touch) {
    for (size_t at = 0; at < bytes; at += 8) touch(at, bytes - at < 8 ? (int)(bytes - at) : 8);
}
inline void read_words(const void* p, size_t bytes) {
    in_words(bytes, [&](size_t at, int size) { access((char*)p + at, size, READ); });
}
inline void* write_words(void* p, const char* values, size_t bytes) {
    in_words(bytes, [&](size_t at, int size) {
        access((char*)p + at, size, WRITE);
        memcpy((char*)p + at, values + at, size);
    });
    return p;
}
extern "C" void __tsan_read_range(void* p, long n) { read_words(p, n); }
extern "C" void __tsan_write_range(void* p, long n) {
    in_words(n, [&](size_t at, int size) { access((char*)p + at, size, WRITE); });
}
extern "C" void* __tsan_memmove(void* d, const void* s, size_t n) {
    read_words(s, n);
    return write_words(d, std::string((const char*)s, n).data(), n);
}
extern "C" void* __tsan_memcpy(void* d, const void* s, size_t n) { return __tsan_memmove(d, s, n); }
extern "C" void* __tsan_memset(void* d, int v, size_t n) { return write_words(d, std::string(n, (char)v).data(), n); }
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
