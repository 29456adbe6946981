// The memory of the emulator's threads and blocks: stacks and shared memory, each with one guard page.
#pragma once
#include <sys/mman.h>

#include "host_state.hpp"

namespace lockstep_host {
namespace {

// Stacks are kept between launches: mapping, guarding and touching them anew took longer than most kernels. But every
// guarded stack is two mappings, of which a process may have some 65,000.
void give_back_stacks() {
    constexpr size_t most = 16384;
    if (stacks->guarded <= most) return;
    munmap(stacks->low, stacks->count * kStack);
    *stacks = {nullptr, 0, 0};
}

void make_room(unsigned window) {
    const size_t n = (size_t)block_dim.x * block_dim.y * block_dim.z, want = n * window;
    size_t ring = 1;
    while (ring < want + 1) ring <<= 1;
    if (ready.size() < ring) ready.resize(ring);
    if (stacks->count < want) {
        if (stacks->low) munmap(stacks->low, stacks->count * kStack);
        *stacks = {nullptr, 0, 0};
        void* p = mmap(nullptr, want * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                       0);
        if (p == MAP_FAILED) fail(MISUSE, "no memory for the threads' stacks");
        *stacks = {(unsigned char*)p, want, 0};
    }
    free_stacks.clear();
    for (size_t i = want; i-- > 0;) free_stacks.push_back((int)i);
    if (slots.size() < window) slots.resize(window);
    for (LiveBlock& b : slots) b.used = false;  // a launch that failed leaves its blocks, perhaps more of them, in use
    for (unsigned i = 0; i < window; ++i) {
        LiveBlock& b = slots[i];
        const size_t rounded = (launch->shared + 15) / 16 * 16;
        const size_t bytes = (rounded + kPage - 1) / kPage * kPage + kPage;
        if (b.arena_bytes < bytes) {
            if (b.arena) munmap(b.arena, b.arena_bytes);
            void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (p == MAP_FAILED) { b.arena = nullptr; b.arena_bytes = 0; fail(MISUSE, "no memory for shared memory"); }
            b.arena = (unsigned char*)p;
            b.arena_bytes = bytes;
            mprotect(b.arena + bytes - kPage, kPage, PROT_NONE);
        }
        b.shared = b.arena + b.arena_bytes - kPage - rounded;
    }
}

}  // namespace
}  // namespace lockstep_host
