// Detects data races: two unordered accesses to one location, at least one a write, not both atomic.
//
// Vector clocks track the order: a clock has a count for each thread of the launch; a thread's clock covers all that
// happened before its next access. Barriers join the clocks of their threads; a release store attaches its thread's
// clock to the word, an acquire load joins it, and an atomic preserves it; after a fence, relaxed stores and atomics
// attach the clock of the fence, which joins what earlier relaxed loads and atomics have read. __threadfence() is
// sequentially consistent: it joins the clocks of all such fences before it, too, where fence.acq_rel does not.
// __threadfence_block() does the same among the threads of its block alone. Votes, shuffles and reductions of a warp
// order nothing, __syncwarp() does. So a missing fence, release, acquire or barrier shows even in a run with a harmless
// interleaving: the memory here is sequentially consistent, the clocks are not.
//
// References: C. Flanagan, S. Freund, "FastTrack: Efficient and Precise Dynamic Race Detection", PLDI 2009 (clocks);
// PTX ISA, "Memory Consistency Model" (what orders; device and system are one scope here).
//
// A part of host_runtime.cpp, which compiles all parts as one.
#pragma once
#include <unordered_map>

#include "host_state.hpp"

namespace lockstep_host {
namespace {

typedef std::vector<uint32_t> Clock;       // empty: nothing
struct Scoped { Clock device, block; };    // a clock for all threads, and one for those of a block: no less
struct Order {
    Clock now;                             // what happened before the thread's next access
    Scoped fenced;                         // the same at its last fences
    Scoped seen;                           // what its relaxed loads and atomics took since
};
struct Released {                          // by stores and atomics, at a word
    Clock device;
    std::unordered_map<uint32_t, Clock> block;
};
struct Access {
    uint32_t thread, count;
    uint8_t bytes;                         // which of the word's four
    bool atomic;
};
struct Word { std::vector<Access> reads, writes; };

const unsigned kMostThreads = 1 << 12;     // clocks need its square
std::vector<Order> orders;
std::unordered_map<uintptr_t, Word> words;
std::unordered_map<uintptr_t, Released> released_clocks;
Released fences;                           // all sequentially consistent ones so far

inline bool watched() { return launch->races; }
inline uint32_t number_of(const Fiber* f) {
    return f->block->linear * (block_dim.x * block_dim.y * block_dim.z) + f->linear;
}

void join(Clock& to, const Clock& from) {
    if (to.size() < from.size()) to.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i)
        if (from[i] > to[i]) to[i] = from[i];
}
inline void tick(uint32_t t) { ++orders[t].now[t]; }

void start_races(unsigned threads) {
    words.clear();
    released_clocks.clear();
    fences = Released();
    if (threads > kMostThreads) fail(MISUSE, "races are looked for among at most 4,096 threads");
    orders.assign(threads, Order());
    for (unsigned t = 0; t < threads; ++t) {
        orders[t].now.assign(threads, 0);
        orders[t].now[t] = 1;
    }
}

// Forgets the previous block's accesses to a new block's shared memory.
void forget(const unsigned char* low, size_t bytes) {
    for (uintptr_t at = (uintptr_t)low & ~(uintptr_t)3; at < (uintptr_t)low + bytes; at += 4) words.erase(at);
}

void conflict(const Access& other, bool write, bool other_wrote, bool atomic, uintptr_t at) {
    const uint32_t n = block_dim.x * block_dim.y * block_dim.z;
    const Fiber* f = current_fiber();
    auto does = [](bool writes, bool one) {
        return std::string(one ? "atomically " : "") + (writes ? "writes" : "reads");
    };
    launch->address = at;
    fail(RACE, "data race: block " + std::to_string(f->block->linear) + ", thread " + std::to_string(f->linear) + " "
         + does(write, atomic) + " @, which block " + std::to_string(other.thread / n) + ", thread "
         + std::to_string(other.thread % n) + " " + does(other_wrote, other.atomic)
         + ", and no barrier, fence, release or acquire orders them");
}

// Records an access and drops those that it is ordered after.
void record_access(std::vector<Access>& list, const Access& mine, const Clock& now) {
    size_t left = 0;
    for (Access& one : list) {
        const bool before = one.count <= now[one.thread];
        if (before || one.thread == mine.thread) one.bytes &= (uint8_t)~mine.bytes;
        if (one.bytes) list[left++] = one;
    }
    list.resize(left);
    list.push_back(mine);
}

void check_access(const volatile void* p, int bytes, bool write, bool atomic) {
    const uintptr_t first = (uintptr_t)p, stack = (uintptr_t)stacks->low;
    if (first >= stack && first < stack + stacks->count * kStack) return;  // a thread's own
    const uint32_t t = number_of(current_fiber());
    const Clock& now = orders[t].now;
    for (uintptr_t at = first & ~(uintptr_t)3; at < first + bytes; at += 4) {
        Access mine = {t, now[t], 0, atomic};
        for (int i = 0; i < 4; ++i)
            if (at + i >= first && at + i < first + bytes) mine.bytes |= (uint8_t)(1 << i);
        Word& word = words[at];
        auto races = [&](const Access& one, bool wrote) {
            if (!(one.bytes & mine.bytes) || one.count <= now[one.thread] || (one.atomic && atomic)) return false;
            return launch->races > 1 || (write && !atomic) || (wrote && !one.atomic);
        };
        for (const Access& one : word.writes)
            if (races(one, true)) conflict(one, write, true, atomic, first);
        if (write)
            for (const Access& one : word.reads)
                if (races(one, false)) conflict(one, write, false, atomic, first);
        record_access(write ? word.writes : word.reads, mine, now);
    }
}

template <class F> void join_all(F each) {  // each(visit) calls visit(fiber) for all arrived threads
    Clock all;
    each([&](Fiber& f) { join(all, orders[number_of(&f)].now); });
    each([&](Fiber& f) {
        const uint32_t t = number_of(&f);
        orders[t].now = all;
        tick(t);
    });
}

}  // namespace

// ---- called by kernels, before the access itself

void fenced(bool device, bool sequential) {
    if (!watched()) return;
    const uint32_t t = number_of(current_fiber()), block = current_fiber()->block->linear;
    Order& o = orders[t];
    join(o.now, o.seen.block);
    o.seen.block.clear();
    if (device) {
        join(o.now, o.seen.device);
        o.seen.device.clear();
    }
    if (sequential) {
        join(o.now, fences.block[block]);
        if (device) join(o.now, fences.device);
        fences.block[block] = o.now;
        if (device) fences.device = o.now;
    }
    o.fenced.block = o.now;
    if (device) o.fenced.device = o.now;
    tick(t);
}

void ordered(Ordering how, const volatile void* p, int bytes) {
    if (!watched()) return;
    const uint32_t t = number_of(current_fiber()), block = current_fiber()->block->linear;
    Order& o = orders[t];
    const uintptr_t at = (uintptr_t)p;
    check_access(p, bytes, how == STORED || how == RELEASED || how == CHANGED, true);
    if (how == RELEASED || how == STORED) {
        const Scoped given = how == RELEASED ? Scoped{o.now, o.now} : o.fenced;
        if (given.block.empty()) released_clocks.erase(at);
        else released_clocks[at] = {given.device, {{block, given.block}}};
        if (how == RELEASED) tick(t);
        return;
    }
    Released& there = released_clocks[at];
    join(how == ACQUIRED ? o.now : o.seen.device, there.device);
    join(how == ACQUIRED ? o.now : o.seen.block, there.block[block]);
    if (how == CHANGED) {
        join(there.device, o.fenced.device);
        join(there.block[block], o.fenced.block);
    }
}

}  // namespace lockstep_host
