// The hypothetical GPU's scheduler: blocks and threads of one launch as fibers of one OS thread.
//
// A thread runs until it finishes, waits (block barrier, grid barrier, warp operation) or gives way; then the scheduler
// takes the next ready one: first in, first out, or at random when fuzzed. A thread that never waits costs one call on
// a stack that the next thread uses again, so barrier-free launches are cheap. When nobody can run, the reason is
// written down (who waits where) and the launch ends: the abandoned fibers hold nothing that needs undoing.
//
// A launch ends with an error code instead of a hang: divergent barrier, deadlock, no progress within a budget of
// steps, a stack or an array left. Compiled without -fsanitize=thread; under fuzz="memory" the compiler calls the
// __tsan_* functions at the end of this file around every load and store of the kernels.
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include "host.hpp"

#ifndef __x86_64__
#error "the host executor switches threads in x86-64 assembly: use an x86-64 machine"
#endif

namespace lockstep_host {

Thread* current = nullptr;
dim3 block_dim, grid_dim;
uint64_t clock_steps = 0;

namespace {

enum State { READY, WAIT_BARRIER, WAIT_GRID, WAIT_WARP, DONE };
enum Error { OK, DIVERGENT, DEADLOCK, BUDGET, FAULT, MISUSE };
const size_t kPage = 4096, kStack = 64 * 1024;
const int kPatience = 64;                  // events a thread may run through before others get their turn

struct Fiber : Thread {
    void* stack_pointer;
    int stack;                             // index into the stacks, -1 before its first step
    State state;
    int patience;
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

extern "C" struct LockstepLaunch {         // host.py's ctypes structure mirrors it
    void (*entry)(void**);
    void** arguments;
    uint32_t grid[3], block[3];
    uint64_t shared, seed, budget, trace_limit;
    int32_t cooperative, fuzz, permille, window;
    uint64_t barriers, grid_barriers, atomics, switches, steps;     // results
    int32_t error, trace_full;
    char message[1024];
};

namespace {

LockstepLaunch* launch;
std::vector<LiveBlock> slots;
std::vector<Fiber*> ready;                 // ring, a power of two
size_t head, tail;
unsigned char* stacks = nullptr;
size_t stacks_count = 0;
std::vector<int> free_stacks;
std::vector<bool> guarded;
int guards = 0;
void* scheduler_pointer;
uint64_t random_state, last_progress;
unsigned live_blocks, grid_waiting;
const void* grid_state;
const char* grid_where;
std::vector<Record> trace;
int pending_write = -1;                    // trace line whose value is read at the next event, once it is written
sigjmp_buf escape;
pthread_t launching_thread;
struct sigaction old_segv, old_bus;

inline Fiber* me() { return static_cast<Fiber*>(current); }
inline LiveBlock* home(Fiber* f) { return static_cast<LiveBlock*>(f->block); }

inline uint64_t next_random() {            // splitmix64
    uint64_t z = (random_state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

extern "C" void lockstep_swap(void** save, void* load);
extern "C" void lockstep_start();
asm(R"(
.text
.hidden lockstep_swap
.type lockstep_swap,@function
lockstep_swap:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

void to_scheduler() {
    Fiber* f = me();
    lockstep_swap(&f->stack_pointer, scheduler_pointer);
}

inline void push(Fiber* f) {
    f->state = READY;
    ready[tail++ & (ready.size() - 1)] = f;
}

Fiber* pop() {
    const size_t mask = ready.size() - 1;
    if (launch->fuzz) std::swap(ready[head & mask], ready[(head + next_random() % (tail - head)) & mask]);
    return ready[head++ & mask];
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

// Where everybody of a block is, one clause for each place.
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

void note(Event event, const volatile void* address, uint64_t seen, uint64_t left, int bytes) {
    if (trace.size() >= launch->trace_limit) { launch->trace_full = 1; return; }
    Fiber* f = me();
    trace.push_back({(int64_t)launch->steps, (int64_t)address, (int64_t)seen, (int64_t)left,
                     (int32_t)f->block->linear, (int32_t)f->linear, (int32_t)event, bytes});
}

inline uint64_t peek(const volatile void* p, int bytes) {
    uint64_t v = 0;
    memcpy(&v, const_cast<const void*>(p), bytes < 8 ? bytes : 8);
    return v;
}

void settle_write() {                      // the store announced last has happened by now: nobody ran in between
    if (pending_write < 0) return;
    Record& r = trace[pending_write];
    r.after = (int64_t)peek((const void*)r.address, r.bytes);
    pending_write = -1;
}

void switch_away() {
    push(me());
    to_scheduler();
}

inline bool fuzzed() { return launch->fuzz && (int)(next_random() % 1000) < launch->permille; }

// A barrier opens only if no thread of the block has finished and all wait at the same place in the text.
void check_barrier(LiveBlock* b, Fiber* newest) {
    if (b->exited && b->waiting)
        fail(DIVERGENT, "divergent barrier: " + whereabouts(b));
    for (Fiber& f : b->fibers)
        if (f.where != newest->where && strcmp(f.where, newest->where) != 0)
            fail(DIVERGENT, "divergent barrier: " + whereabouts(b));
}

void finish(Fiber* f) {
    LiveBlock* b = home(f);
    f->state = DONE;
    --b->alive;
    ++b->exited;
    last_progress = launch->switches;
    if (b->waiting) fail(DIVERGENT, "divergent barrier: " + whereabouts(b));
    if (b->alive == 0) { b->used = false; --live_blocks; }
}

void resolve_warp(LiveBlock* b, Fiber* f);

}  // namespace

extern "C" void lockstep_body() {          // runs on a fresh fiber's stack
    launch->entry(launch->arguments);
    settle_write();
    Fiber* f = me();
    f->state = DONE;
    void* unused;
    lockstep_swap(&unused, scheduler_pointer);
}

namespace {

void step(Fiber* f) {
    if (f->stack < 0) {
        if (free_stacks.empty()) fail(MISUSE, "more threads alive than stacks");
        f->stack = free_stacks.back();
        free_stacks.pop_back();
        unsigned char* low = stacks + (size_t)f->stack * kStack;
        if (!guarded[f->stack]) {          // an overflowing stack meets this page, not its neighbour
            mprotect(low, kPage, PROT_NONE);
            guarded[f->stack] = true;
            ++guards;
        }
        void** top = reinterpret_cast<void**>(low + kStack) - 2;
        *--top = nullptr;
        *--top = reinterpret_cast<void*>(&lockstep_body);
        for (int i = 0; i < 6; ++i) *--top = nullptr;
        f->stack_pointer = top;
    }
    f->patience = kPatience;
    current = f;
    ++launch->switches;
    lockstep_swap(&scheduler_pointer, f->stack_pointer);
    current = nullptr;
    if (f->state == DONE) {
        free_stacks.push_back(f->stack);
        finish(f);
    }
}

void start_block(LiveBlock* b, unsigned linear) {
    b->index = {linear % grid_dim.x, linear / grid_dim.x % grid_dim.y, linear / grid_dim.x / grid_dim.y};
    b->linear = linear;
    const unsigned n = block_dim.x * block_dim.y * block_dim.z;
    if (b->fibers.size() != n) b->fibers.resize(n);
    b->alive = n;
    b->waiting = b->exited = 0;
    b->reduce_count = 0;
    b->used = true;
    // Shared memory starts as garbage, and ends at a page that cannot be touched.
    if (launch->shared) memset(b->shared, launch->fuzz ? (int)(next_random() & 255) : 0xCD, launch->shared);
    for (unsigned i = 0; i < n; ++i) {
        Fiber& f = b->fibers[i];
        f.index = {i % block_dim.x, i / block_dim.x % block_dim.y, i / block_dim.x / block_dim.y};
        f.linear = i;
        f.block = b;
        f.stack = -1;
        f.where = "";
        push(&f);
    }
    ++live_blocks;
}

// Every guarded stack is a mapping of its own, of which a process may have some 65,000; and each kernel's library has
// its stacks. So a library keeps few of them between its launches.
void give_back_stacks() {
    constexpr int few = 64;
    if (guards <= few) return;
    munmap(stacks, stacks_count * kStack);
    stacks = nullptr;
    stacks_count = 0;
    guards = 0;
}

void make_room(unsigned window) {
    const size_t n = (size_t)block_dim.x * block_dim.y * block_dim.z, want = n * window;
    size_t ring = 1;
    while (ring < want + 1) ring <<= 1;
    if (ready.size() < ring) ready.resize(ring);
    if (stacks_count < want) {
        if (stacks) munmap(stacks, stacks_count * kStack);
        void* p = mmap(nullptr, want * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) { stacks = nullptr; stacks_count = 0; fail(MISUSE, "no memory for the threads' stacks"); }
        stacks = (unsigned char*)p;
        stacks_count = want;
        guarded.assign(want, false);
        guards = 0;
    }
    free_stacks.clear();
    for (size_t i = stacks_count; i-- > 0;) free_stacks.push_back((int)i);
    if (slots.size() < window) slots.resize(window);
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
        b.used = false;
    }
}

void run() {
    const unsigned total = grid_dim.x * grid_dim.y * grid_dim.z;
    const unsigned window = launch->window < (int)total ? launch->window : total;
    make_room(window);
    head = tail = 0;
    live_blocks = grid_waiting = 0;
    grid_state = nullptr;
    // Blocks of an independent launch begin in any order on a GPU: in a seeded random one when fuzzed.
    std::vector<unsigned> order;
    if (launch->fuzz && !launch->cooperative) {
        order.resize(total);
        for (unsigned i = 0; i < total; ++i) order[i] = i;
        for (unsigned i = total; i > 1; --i) std::swap(order[i - 1], order[next_random() % i]);
    }
    for (unsigned begun = 0;;) {
        for (unsigned i = 0; begun < total && live_blocks < window && i < window; ++i)
            if (!slots[i].used) { start_block(&slots[i], order.empty() ? begun : order[begun]); ++begun; }
        if (head == tail) {
            if (live_blocks == 0) return;
            for (LiveBlock& b : slots)
                if (b.used && b.waiting) fail(DIVERGENT, "divergent barrier: " + whereabouts(&b));
            for (LiveBlock& b : slots)
                if (b.used) fail(DEADLOCK, "nobody can run: " + whereabouts(&b));
        }
        if (launch->switches - last_progress > launch->budget) {
            LiveBlock* b = home(ready[head & (ready.size() - 1)]);
            fail(BUDGET, std::to_string(launch->budget) + " turns without a thread finishing or a barrier opening: "
                 + whereabouts(b) + (launch->cooperative ? "" : " (blocks of an independent launch may not wait for later"
                 " ones: launch with cooperative=True if they do)"));
        }
        step(pop());
    }
}

void on_fault(int number, siginfo_t* info, void*) {
    if (!launch || !pthread_equal(pthread_self(), launching_thread)) {
        sigaction(number, number == SIGSEGV ? &old_segv : &old_bus, nullptr);
        return;                            // not ours: the instruction faults again under the former handler
    }
    launch->error = FAULT;
    const unsigned char* at = (const unsigned char*)info->si_addr;
    const char* what = "an address outside every array";
    if (Fiber* f = me()) {                 // a large frame can jump over the guard page
        const unsigned char* low = stacks + (size_t)f->stack * kStack;
        if (at >= low - (1 << 20) && at < low + kPage) what = "beyond its stack of 60 KB";
    }
    for (LiveBlock& b : slots)
        if (b.arena && at >= b.arena && at < b.arena + b.arena_bytes) what = "beyond the block's shared memory";
    Fiber* f = me();
    if (f)
        snprintf(launch->message, sizeof launch->message, "block %u, thread %u touched %s (%p)", f->block->linear,
                 f->linear, what, info->si_addr);
    else
        snprintf(launch->message, sizeof launch->message, "the scheduler touched %p", info->si_addr);
    siglongjmp(escape, 1);
}

}  // namespace

// ---- called by kernels

void before(Event event, const volatile void*) {
    ++launch->steps;
    ++clock_steps;
    if (event == ATOMIC) ++launch->atomics;
    if (pending_write >= 0) settle_write();
    if (--me()->patience <= 0 || fuzzed()) switch_away();
}

void after(Event event, const volatile void* address, uint64_t seen, uint64_t left, int bytes) {
    if (launch->trace_limit) note(event, address, seen, left, bytes);
}

void yield() {
    ++launch->steps;
    ++clock_steps;
    if (pending_write >= 0) settle_write();
    switch_away();
}

uint64_t block_barrier(const char* where, int operation, int value) {
    Fiber* f = me();
    LiveBlock* b = home(f);
    ++launch->steps;
    ++clock_steps;
    if (pending_write >= 0) settle_write();
    if (launch->trace_limit) note(BARRIER, nullptr, b->waiting, 0, 0);
    f->state = WAIT_BARRIER;
    f->where = where;
    f->value = (uint64_t)operation;
    b->reduce_count += value;
    ++b->waiting;
    if (b->exited) check_barrier(b, f);
    if (b->waiting < b->alive) {
        to_scheduler();
        return f->result;
    }
    check_barrier(b, f);
    ++launch->barriers;
    last_progress = launch->switches;
    const int count = b->reduce_count, n = (int)b->fibers.size();
    const uint64_t result = operation == 1 ? count : operation == 2 ? count > 0 : operation == 3 ? count == n : 0;
    b->waiting = 0;
    b->reduce_count = 0;
    for (Fiber& g : b->fibers) {
        g.result = result;
        if (&g != f) push(&g);
    }
    f->state = READY;
    if (fuzzed()) switch_away();
    return result;
}

void whole_grid_barrier(const char* where, unsigned* state) {
    block_barrier(where, 0, 0);
    Fiber* f = me();
    if (f->linear == 0) {
        const unsigned total = grid_dim.x * grid_dim.y * grid_dim.z;
        if (!launch->cooperative && total > 1)
            fail(MISUSE, std::string("grid barrier ") + where + " in a launch of " + std::to_string(total)
                 + " blocks that is not cooperative: launch with cooperative=True");
        if (state[0] & 0x7fffffffu)
            fail(MISUSE, std::string("grid barrier ") + where + ": its state must be zero before the first use");
        if (grid_waiting && grid_state != state) fail(DIVERGENT, std::string("divergent grid barrier: blocks wait with"
                                                      " different states at ") + where + " and " + grid_where);
        grid_state = state;
        grid_where = where;
        if (launch->trace_limit) note(GRID_BARRIER, state, grid_waiting, 0, 4);
        if (++grid_waiting < total) {
            f->state = WAIT_GRID;
            f->where = where;
            to_scheduler();
        } else {
            ++launch->grid_barriers;
            last_progress = launch->switches;
            grid_waiting = 0;
            state[0] ^= 0x80000000u;       // as on the GPU
            for (LiveBlock& b : slots)
                if (b.used && b.fibers[0].state == WAIT_GRID) push(&b.fibers[0]);
        }
    }
    block_barrier(where, 0, 0);
}

uint64_t warp(const char* where, WarpOp operation, unsigned mask, uint64_t value, int source) {
    Fiber* f = me();
    ++launch->steps;
    ++clock_steps;
    if (pending_write >= 0) settle_write();
    if (!(mask >> (f->linear & 31) & 1u))
        fail(MISUSE, "block " + name(f->block->index, grid_dim) + ", thread " + std::to_string(f->linear)
             + ": the mask of the warp operation " + where + " leaves out the lane that calls it");
    f->state = WAIT_WARP;
    f->where = where;
    f->operation = operation;
    f->mask = mask;
    f->value = value;
    f->source = source;
    resolve_warp(home(f), f);
    if (f->state == WAIT_WARP) to_scheduler();
    else if (fuzzed()) switch_away();
    return f->result;
}

namespace {

// Ends the warp operation that f waits at if all lanes of its mask that still live have come to it.
void resolve_warp(LiveBlock* b, Fiber* f) {
    const unsigned base = f->linear & ~31u, n = (unsigned)b->fibers.size();
    unsigned here = 0;
    for (unsigned lane = 0; lane < 32 && base + lane < n; ++lane) {
        Fiber& g = b->fibers[base + lane];
        if (!(f->mask >> lane & 1u) || g.state == DONE) continue;
        if (g.state != WAIT_WARP) return;
        if (g.mask != f->mask || g.operation != f->operation) return;      // its own group, or a deadlock reported later
        here |= 1u << lane;
    }
    auto lane_value = [&](unsigned lane) { return b->fibers[base + lane].value; };
    uint64_t all = 0;
    bool first = true;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(here >> lane & 1u)) continue;
        const uint64_t v = lane_value(lane);
        const int s = (int)(uint32_t)v;
        const unsigned u = (unsigned)v;
        switch (f->operation) {
            case BALLOT: all |= (v ? 1ull : 0ull) << lane; break;
            case ANY: all |= v != 0; break;
            case ALL: all = (first ? 1 : all) && v; break;
            case ADD: all = (uint32_t)((uint32_t)all + u); break;
            case MIN_S: all = first ? u : (uint32_t)((int)(uint32_t)all < s ? (int)(uint32_t)all : s); break;
            case MAX_S: all = first ? u : (uint32_t)((int)(uint32_t)all > s ? (int)(uint32_t)all : s); break;
            case MIN_U: all = first || u < (uint32_t)all ? u : all; break;
            case MAX_U: all = first || u > (uint32_t)all ? u : all; break;
            case AND: all = first ? u : all & u; break;
            case OR: all |= u; break;
            case XOR: all ^= u; break;
            default: break;
        }
        first = false;
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(here >> lane & 1u)) continue;
        Fiber& g = b->fibers[base + lane];
        g.result = all;
        if (f->operation == SHUFFLE)       // a source outside the group is undefined on a GPU; here the lane keeps its own
            g.result = here >> (g.source & 31) & 1u ? lane_value(g.source & 31) : g.value;
        if (f->operation == MATCH_ANY) {
            g.result = 0;
            for (unsigned other = 0; other < 32; ++other)
                if (here >> other & 1u && lane_value(other) == g.value) g.result |= 1ull << other;
        }
        if (&g == f) g.state = READY;
        else push(&g);
    }
}

}  // namespace
}  // namespace lockstep_host

using namespace lockstep_host;

extern "C" __attribute__((visibility("default"))) int lockstep_run(LockstepLaunch* request) {
    launch = request;
    block_dim = {request->block[0], request->block[1], request->block[2]};
    grid_dim = {request->grid[0], request->grid[1], request->grid[2]};
    random_state = request->seed;
    last_progress = 0;
    clock_steps = 0;
    pending_write = -1;
    trace.clear();
    launching_thread = pthread_self();
    // A fault on a full stack needs another one to be handled on.
    static unsigned char handler_stack[64 * 1024];
    stack_t mine = {}, old = {};
    mine.ss_sp = handler_stack;
    mine.ss_size = sizeof handler_stack;
    sigaltstack(&mine, &old);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
    if (sigsetjmp(escape, 1) == 0) run();
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
    sigaltstack(&old, nullptr);
    current = nullptr;
    launch = nullptr;
    give_back_stacks();
    fflush(stdout);
    return request->error;
}

extern "C" __attribute__((visibility("default"))) uint64_t lockstep_trace(const void** records) {
    *records = trace.data();
    return trace.size();
}

// ---- what -fsanitize=thread makes the compiler call around plain accesses

static inline void access(const volatile void* p, int bytes, Event event) {
    if (!current) return;
    before(event, p);
    if (!launch->trace_limit) return;
    const uint64_t seen = peek(p, bytes);  // nobody runs between here and the access itself
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
extern "C" void __tsan_read_range(void* p, long n) { access(p, n < 8 ? (int)n : 8, READ); }
extern "C" void __tsan_write_range(void* p, long n) { access(p, n < 8 ? (int)n : 8, WRITE); }
extern "C" void* __tsan_memcpy(void* d, const void* s, size_t n) { access(d, 1, WRITE); return memcpy(d, s, n); }
extern "C" void* __tsan_memmove(void* d, const void* s, size_t n) { access(d, 1, WRITE); return memmove(d, s, n); }
extern "C" void* __tsan_memset(void* d, int v, size_t n) { access(d, 1, WRITE); return memset(d, v, n); }
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" void __tsan_func_exit() {}
extern "C" void __tsan_vptr_update(void**, void*) {}
extern "C" void __tsan_vptr_read(void**) {}
