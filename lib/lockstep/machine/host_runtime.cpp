// The emulator's scheduler: blocks and threads of one launch as fibers of one OS thread.
//
// A thread runs until it finishes, waits (block barrier, grid barrier, warp operation) or yields; then the scheduler
// takes the next ready one: first in, first out, or at random when fuzzed. A thread that never waits costs one call on
// a stack that the next thread reuses, so barrier-free launches are cheap. When no thread can run, the launch ends with
// a message on who waits where; the abandoned fibers hold no resources.
//
// A launch ends with an error code instead of a hang: divergent barrier, deadlock, no progress within a budget of
// switches, access outside a stack or an array. Compiled without -fsanitize=thread; under fuzz="memory" the compiler
// calls the __tsan_* functions of host_trace.hpp before every load and store of the kernels.
#include <algorithm>
#include <cstdlib>
#include <sys/mman.h>

#include "host_state.hpp"
#include "host_stacks.hpp"
#include "host_races.hpp"
#include "host_trace.hpp"  // host_warp.hpp, which calls what is defined here, comes below

#ifndef __x86_64__
#error "the emulator switches threads in x86-64 assembly: use an x86-64 machine"
#endif

namespace lockstep_host {
namespace {

extern "C" void lockstep_swap(void** save, void* load);
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
    Fiber* f = current_fiber();
    lockstep_swap(&f->stack_pointer, scheduler_pointer);
}

inline void push(Fiber* f) {
    f->state = READY;
    ready[tail++ & (ready.size() - 1)] = f;
}

Fiber* pop() {
    const size_t mask = ready.size() - 1;
    if (launch->fuzz) {
        auto draw = [&] { std::swap(ready[head & mask], ready[(head + next_random() % (tail - head)) & mask]); };
        draw();
        if (slow_first && ready[head & mask]->linear == 0 && next_random() % 16) draw();
    }
    return ready[head++ & mask];
}

void switch_away() {
    push(current_fiber());
    to_scheduler();
}

inline bool fuzzed() { return launch->fuzz && (int)(next_random() % 1000) < launch->permille; }

// A barrier opens only if no thread of the block has finished and all wait at the same source line.
void check_barrier(LiveBlock* b, Fiber* newest) {
    if (b->exited && b->waiting)
        fail(DIVERGENT, "divergent barrier: " + whereabouts(b));
    for (Fiber& f : b->fibers)
        if (f.where != newest->where && strcmp(f.where, newest->where) != 0)
            fail(DIVERGENT, "divergent barrier: " + whereabouts(b));
}

void finish(Fiber* f) {
    LiveBlock* b = block_of(f);
    f->state = DONE;
    --b->alive;
    ++b->exited;
    last_progress = launch->switches;
    if (b->waiting) fail(DIVERGENT, "divergent barrier: " + whereabouts(b));
    if (b->alive == 0) { b->used = false; --live_blocks; }
}

}  // namespace

extern "C" void lockstep_body() {          // runs on a fresh fiber's stack
    launch->entry(launch->arguments);
    perform_late();
    settle_write();
    Fiber* f = current_fiber();
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
        unsigned char* low = stacks->low + (size_t)f->stack * kStack;
        if (stacks->guarded <= (size_t)f->stack) {  // guard page: an overflow faults, and spares the neighbour
            mprotect(low, kPage, PROT_NONE);
            stacks->guarded = f->stack + 1;         // they are taken in order
        }
        void** top = reinterpret_cast<void**>(low + kStack) - 2;
        *--top = nullptr;
        *--top = reinterpret_cast<void*>(&lockstep_body);
        for (int i = 0; i < 6; ++i) *--top = nullptr;
        f->stack_pointer = top;
    }
    f->slice_left = kTimeSlice;
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
    // Shared memory starts as garbage, and ends at a guard page.
    if (launch->shared) memset(b->shared, launch->fuzz ? (int)(next_random() & 255) : 0xCD, launch->shared);
    if (watched()) forget(b->shared, launch->shared);
    for (unsigned i = 0; i < n; ++i) {
        Fiber& f = b->fibers[i];
        f.index = {i % block_dim.x, i / block_dim.x % block_dim.y, i / block_dim.x / block_dim.y};
        f.linear = i;
        f.block = b;
        f.stack = -1;
        f.where = "";
        f.late.clear();                    // an earlier launch may have been abandoned
        push(&f);
    }
    ++live_blocks;
}

void run() {
    const unsigned total = grid_dim.x * grid_dim.y * grid_dim.z;
    const unsigned window = launch->window < (int)total ? launch->window : total;
    make_room(window);
    if (watched()) start_races(total * block_dim.x * block_dim.y * block_dim.z);
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
                if (b.used) fail(DEADLOCK, "no thread can run: " + whereabouts(&b));
        }
        // Changing values count as progress (a chain of thousands of releases), but only for kChanging budgets (a lock
        // taken and released for ever).
        const uint64_t budget = launch->budget, quiet = launch->switches - last_progress;
        const bool still = launch->switches - last_change > budget && quiet > budget;
        if (still || quiet > kLivelockBudgets * budget) {
            LiveBlock* b = block_of(ready[head & (ready.size() - 1)]);
            const std::string turns =
            std::to_string(still ? budget : kLivelockBudgets * budget) + " turns without a thread"
                " finishing" + (still ? ", a barrier opening or a shared value changing" : " or a barrier opening");
            fail(BUDGET, turns + " (the executor's budget is " + std::to_string(budget) + "): " + whereabouts(b)
                 + (launch->cooperative ? "" : " (blocks of an independent launch may not wait for later"
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
    if (Fiber* f = current_fiber()) {      // a large frame can jump over the guard page
        const unsigned char* low = stacks->low + (size_t)f->stack * kStack;
        if (at >= low - (1 << 20) && at < low + kPage) what = "beyond its stack of 60 KB";
    }
    for (LiveBlock& b : slots)
        if (b.arena && at >= b.arena && at < b.arena + b.arena_bytes) what = "beyond the block's shared memory";
    Fiber* f = current_fiber();
    if (f)
        snprintf(launch->message, sizeof launch->message, "block %u, thread %u touched %s (%p)", f->block->linear,
                 f->linear, what, info->si_addr);
    else
        snprintf(launch->message, sizeof launch->message, "the scheduler touched %p", info->si_addr);
    siglongjmp(escape, 1);
}

}  // namespace

// ---- called by kernels

#include "host_events.hpp"

uint64_t block_barrier(const char* where, int operation, int value) {
    Fiber* f = current_fiber();
    LiveBlock* b = block_of(f);
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
    if (watched()) join_all([&](auto visit) { for (Fiber& g : b->fibers) visit(g); });
    for (Fiber& g : b->fibers) {
        for (Late& one : g.late) one.shared = true;
        g.result = result;
        if (&g != f) push(&g);
    }
    f->state = READY;
    if (fuzzed()) switch_away();
    return result;
}

void whole_grid_barrier(const char* where, unsigned* state) {
    perform_late();
    block_barrier(where, 0, 0);
    Fiber* f = current_fiber();
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
            if (watched())
                join_all([&](auto visit) { for (LiveBlock& b : slots) if (b.used && b.alive) visit(b.fibers[0]); });
            for (LiveBlock& b : slots)
                if (b.used && b.fibers[0].state == WAIT_GRID) push(&b.fibers[0]);
        }
    }
    block_barrier(where, 0, 0);
}

}  // namespace lockstep_host

#include "host_warp.hpp"

using namespace lockstep_host;

extern "C" __attribute__((visibility("default"))) int lockstep_run(LockstepLaunch* request) {
    launch = request;
    stacks = request->stacks;
    block_dim = {request->block[0], request->block[1], request->block[2]};
    grid_dim = {request->grid[0], request->grid[1], request->grid[2]};
    random_state = request->seed;
    performing = slow_first = false;
    late_state = launch->fuzz && !launch->races ? request->seed | 1 : 0;
    last_progress = last_change = 0;
    clock_steps = 0;
    pending_write = -1;
    trace.clear();
    launching_thread = pthread_self();
    // A stack overflow must be handled on another stack.
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
