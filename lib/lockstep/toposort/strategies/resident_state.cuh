// State of a sort by resident blocks: its arrays, the frontier, and how block 0 passes the frontier on.
#pragma once
#include "expand.cuh"

// The arrays of a sort. buffer: this warp's own; helpers: most_helpers of expand; max_held: see run_subset.
struct Sort {
    Rows rows;
    int *in_degrees, *order;
    Word* queue;
    int* levels;
    Word *level_counters, *subset_counters;
    int* buffer;
    int n, helpers, max_held;
};

// The frontier, the same for all threads that process it.
struct FrontierState {
    int begin, size, level;  // range in `order`; layer
    int step;                // barriers of the subset so far; determines its next counter
    int narrow_levels_left;  // levels narrow enough for block 0 that grid or subset still process first
};

// Levels that block 0 processes alone: of at most `width` vertices, once narrow_levels_left is 0. Only if at least
// `tail` times as many vertices as the level holds are unplaced: a shallow graph's last levels are narrow, but few.
struct SingleBlockRule {
    int width, tail, n;
    __device__ bool fits(const FrontierState& frontier) const {
        return frontier.size <= width && frontier.size * tail <= n - frontier.begin - frontier.size;
    }
    __device__ bool applies(const FrontierState& frontier) const {
        return frontier.narrow_levels_left <= 0 && fits(frontier);
    }
};

// Block 0 publishes the frontier state in global memory. control: two sets of 8 ints that alternate, as a block may
// still read one while the next is written; then a subset's counters. A grid barrier separates save_frontier from
// load_frontier, and a load_frontier from the save_frontier after the next.
__device__ inline Word* counters_of_subset(int* control) { return reinterpret_cast<Word*>(control + 16); }

__device__ inline void save_frontier(int* control, int exchange, const FrontierState& frontier) {
    int* c = control + 8 * (exchange & 1);
    c[0] = frontier.begin;
    c[1] = frontier.size;
    c[2] = frontier.level;
    c[3] = frontier.step;
    c[4] = frontier.narrow_levels_left;
}

__device__ inline FrontierState load_frontier(const int* control, int exchange) {
    const int* c = control + 8 * (exchange & 1);
    return {load_relaxed(c), load_relaxed(c + 1), load_relaxed(c + 2), load_relaxed(c + 3), load_relaxed(c + 4)};
}
