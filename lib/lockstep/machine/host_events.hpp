// What happens at an access to memory: steps are counted, late reductions performed, threads switched. host_runtime.cpp
// includes this file once.
#pragma once

namespace {

void perform(std::vector<Late>& late, bool all = true) {
    performing = true;                     // no thread runs between those that a fence orders
    for (const Late& one : late)
        if (all || one.shared) one.perform(one.address, one.value);
    performing = false;
    late.erase(std::remove_if(late.begin(), late.end(), [&](const Late& one) { return all || one.shared; }), late.end());
}

}  // namespace

void before(Event event, const volatile void* address) {
    if (performing) return;
    std::vector<Late>& late = current_fiber()->late;
    if (!late.empty()) {                   // a thread sees its own at once, and others see them in the end
        bool now = next_random(late_state) % kLateness == 0;
        for (const Late& one : late) now |= one.address == address;
        if (now) perform(late);
    }
    ++launch->steps;
    ++clock_steps;
    if (event == ATOMIC) ++launch->atomics;
    if (pending_write >= 0) settle_write();
    if (--current_fiber()->slice_left <= 0 || fuzzed()) switch_away();
}

void after(Event event, const volatile void* address, uint64_t seen, uint64_t left, int bytes) {
    if (seen != left && event != MARK) last_change = launch->switches;
    if (launch->trace_limit) note(event, address, seen, left, bytes);
}

void yield() {
    ++launch->steps;
    ++clock_steps;
    if (pending_write >= 0) settle_write();
    switch_away();
}

void reduce_late(Reduction perform, void* address, uint64_t value) {
    slow_first = late_state & 2;
    if (late_state) current_fiber()->late.push_back({perform, address, value, false});
    else perform(address, value);
}

void perform_late() {
    if (!late_state) return;
    Fiber* own = current_fiber();
    for (Fiber& f : block_of(own)->fibers)
        if (!f.late.empty()) perform(f.late, &f == own);
}
