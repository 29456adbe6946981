// Warp operations: a lane waits until all unfinished lanes of its mask have arrived; then all get their results.
//
// A part of host_runtime.cpp, which compiles all parts as one.
#pragma once
#include "host_races.hpp"

namespace lockstep_host {
namespace {

// Completes f's warp operation if all unfinished lanes of its mask have arrived.
void resolve_warp(LiveBlock* b, Fiber* f) {
    const unsigned base = f->linear & ~31u, n = (unsigned)b->fibers.size();
    unsigned here = 0;
    for (unsigned lane = 0; lane < 32 && base + lane < n; ++lane) {
        Fiber& g = b->fibers[base + lane];
        if (!(f->mask >> lane & 1u) || g.state == DONE) continue;
        if (g.state != WAIT_WARP) return;
        // another group's operation, or a deadlock reported later
        if (g.mask != f->mask || g.operation != f->operation) return;
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
    if (watched() && f->operation == SYNC)
        join_all([&](auto visit) {
            for (unsigned lane = 0; lane < 32; ++lane)
                if (here >> lane & 1u) visit(b->fibers[base + lane]);
        });
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(here >> lane & 1u)) continue;
        Fiber& g = b->fibers[base + lane];
        g.result = all;
        // a source outside the group is undefined on a GPU; here the lane keeps its own value
        if (f->operation == SHUFFLE)
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

uint64_t warp(const char* where, WarpOp operation, unsigned mask, uint64_t value, int source) {
    Fiber* f = current_fiber();
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
    resolve_warp(block_of(f), f);
    if (f->state == WAIT_WARP) to_scheduler();
    else if (fuzzed()) switch_away();
    return f->result;
}

}  // namespace lockstep_host
