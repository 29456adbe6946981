// The emulator's scheduler: state of a launch, its blocks and threads, and its diagnostics.
//
// A part of host_runtime.cpp, which compiles all parts as one.
#pragma once
#include <csetjmp>
#include <csignal>
#include <pthread.h>
#include <string>
#include <utility>
#include <vector>

#include "host.hpp"

namespace lockstep_host {

Thread* current = nullptr;
dim3 block_dim, grid_dim;
uint64_t clock_steps = 0;

namespace {

enum State { READY, WAIT_BARRIER, WAIT_GRID, WAIT_WARP, DONE };
enum Error { OK, DIVERGENT, DEADLOCK, BUDGET, FAULT, MISUSE, RACE };
const size_t kPage = 4096, kStack = 64 * 1024;
const uint64_t kLivelockBudgets = 20;             // budgets with changing values before a launch counts as a livelock
const uint64_t kLateness = 256;             // a thread's late reductions are performed at one event in so many
const int kTimeSlice = 64;                  // events after which a thread is preempted

struct Late {                              // a reduction that other threads do not see yet
    Reduction perform;
    void* address;
    uint64_t value;
    bool shared;                           // a barrier of its block came after it: a fence of any thread there orders it
};
struct Fiber : Thread {
    std::vector<Late> late;
    void* stack_pointer;
    int stack;                             // index into the stacks, -1 before its first step
    State state;
    int slice_left;
    const char* where;                     // file:line of what it waits for
    WarpOp operation;
    unsigned mask;
    int source;
    uint64_t value;
};
struct LiveBlock : Block {
    std::vector<Fiber> fibers;
    unsigned alive, waiting, exited;
    int reduce_count;
    bool used = false;
    unsigned char* arena = nullptr;
    size_t arena_bytes = 0;
};
struct Record {                            // one line of the trace; host.py's dtype mirrors it
    int64_t step, address, before, after;
    int32_t block, thread, event, bytes;
};

}  // namespace

extern "C" struct LockstepStacks {         // of the threads, shared by all kernels' libraries; see host.py's _Stacks
    unsigned char* low;
    uint64_t count, guarded;               // the first `guarded` of them have a guard page at their low end
};

extern "C" struct LockstepLaunch {         // host.py's ctypes structure mirrors it
    LockstepStacks* stacks;
    void (*entry)(void**);
    void** arguments;
    uint32_t grid[3], block[3];
    uint64_t shared, seed, budget, trace_limit;
    int32_t cooperative, fuzz, permille, window;
    uint64_t barriers, grid_barriers, atomics, switches, steps;     // results
    int32_t error, trace_full;
    int32_t races;                         // to look for: none, those of plain writes, all; as host.py's RACES
    uint64_t address;                      // of the one found
    char message[1024];
};

namespace {

LockstepLaunch* launch;
std::vector<LiveBlock> slots;
std::vector<Fiber*> ready;                 // ring, a power of two
size_t head, tail;
LockstepStacks* stacks;
std::vector<int> free_stacks;
void* scheduler_pointer;
uint64_t late_state;                       // chooses when late reductions are performed; 0: at once
bool performing;                           // late reductions
bool slow_first;                           // the launch reduces, and the first thread of each block is to be slow
uint64_t random_state, last_progress, last_change;  // the latter two in switches
unsigned live_blocks, grid_waiting;
const void* grid_state;
const char* grid_where;
std::vector<Record> trace;
int pending_write = -1;                    // trace line whose value is read at the next event, once it is written
sigjmp_buf escape;
pthread_t launching_thread;
struct sigaction old_segv, old_bus;

inline Fiber* current_fiber() { return static_cast<Fiber*>(current); }
inline LiveBlock* block_of(Fiber* f) { return static_cast<LiveBlock*>(f->block); }

inline uint64_t next_random(uint64_t& state = random_state) {  // splitmix64
    uint64_t z = (state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

[[noreturn]] void fail(Error error, const std::string& text) {
    launch->error = error;
    snprintf(launch->message, sizeof launch->message, "%s", text.c_str());
    siglongjmp(escape, 1);
}

std::string name(const uint3& i, const dim3& n) {
    std::string s = std::to_string(i.x);
    if (n.y > 1 || n.z > 1) s = "(" + s + ", " + std::to_string(i.y) + ", " + std::to_string(i.z) + ")";
    return s;
}

// "threads 0-15, 17": the block's threads for which wanted() holds.
template <class F> std::string list(LiveBlock* b, F wanted) {
    std::string s;
    int shown = 0, count = 0;
    const int n = (int)b->fibers.size();
    for (int i = 0; i < n; ++i) {
        if (!wanted(b->fibers[i])) continue;
        int j = i;
        while (j + 1 < n && wanted(b->fibers[j + 1])) ++j;
        count += j - i + 1;
        if (++shown <= 6) {
            s += (s.empty() ? "" : ", ") + std::to_string(i);
            if (j > i) s += "-" + std::to_string(j);
        } else if (shown == 7) s += ", ...";
        i = j;
    }
    return (count == 1 ? "thread " : "threads ") + s;
}

// Where the threads of a block are, one clause for each place.
std::string whereabouts(LiveBlock* b) {
    std::string s = "block " + name(b->index, grid_dim) + ": ";
    std::vector<std::pair<State, std::string>> places;
    auto place = [](const Fiber& f) {
        return f.state == READY || f.state == DONE ? std::string() : std::string(f.where);
    };
    for (Fiber& f : b->fibers) {
        std::pair<State, std::string> p(f.state, place(f));
        bool known = false;
        for (auto& q : places) known |= q == p;
        if (!known) places.push_back(p);
    }
    for (size_t k = 0; k < places.size() && k < 5; ++k) {
        auto& p = places[k];
        if (k) s += "; ";
        s += list(b, [&](const Fiber& f) { return f.state == p.first && place(f) == p.second; });
        if (p.first == READY) s += " still running";
        if (p.first == DONE) s += " finished";
        if (p.first == WAIT_BARRIER) s += " at the block barrier " + p.second;
        if (p.first == WAIT_GRID) s += " at the grid barrier " + p.second;
        if (p.first == WAIT_WARP) s += " at the warp operation " + p.second;
    }
    return s;
}

}  // namespace
}  // namespace lockstep_host
