// Warp-level functions for a vertex of high degree: gathering its predecessors, coloring it; see waiting.cu.
#pragma once

// A warp appends the predecessors of v among targets[first..last) to `up`; returns their number. With `count`, other
// warps process other segments of the same vertex, and `count` allocates the slots.
__device__ __forceinline__ int gather_predecessors(int v, int first, int last, const Graph& g, int* up, int* count) {
    const int lane = lane_id(), class_v = g.rank[v];
    int found = 0;
    for (int j = first; j < last; j += 128) {
        int u[4], class_u[4];
        unsigned votes[4];
        for (int i = 0; i < 4; ++i) u[i] = g.targets[min(j + i * 32 + lane, last - 1)];
        for (int i = 0; i < 4; ++i) class_u[i] = g.rank[u[i]];
        int total = 0;
        for (int i = 0; i < 4; ++i) {
            votes[i] = __ballot_sync(full_mask, j + i * 32 + lane < last && before(g, u[i], class_u[i], v, class_v));
            total += __popc(votes[i]);
        }
        if (total == 0) continue;
        int place = found;
        if (count) {
            if (lane == 0) place = atomicAdd(count, total);
            place = __shfl_sync(full_mask, place, 0);
        }
        for (int i = 0; i < 4; ++i) {
            if (votes[i] >> lane & 1) up[place + __popc(votes[i] & ((1u << lane) - 1))] = u[i];
            place += __popc(votes[i]);
        }
        found += total;
    }
    return found;
}

// Whether a neighbor can be dropped; records its color if it is final. neighbor_state = 0: no neighbor.
__device__ __forceinline__ bool can_drop(int neighbor_state, int possible, unsigned* set) {
    if (neighbor_state == 0) return true;
    if (is_final(neighbor_state)) {
        const int color = neighbor_state < 0 ? neighbor_state & 0x7fffffff : __ffs(neighbor_state) - 1;
        if (color < window) atomicOr(set + (color >> 5), 1u << (color & 31));
        return true;
    }
    return EARLY && !(neighbor_state & possible);
}

// The smallest color not in the warp's set, or `window` if it is full. Lane i holds word i.
__device__ __forceinline__ int smallest_free(unsigned word) {
    const unsigned open = __ballot_sync(full_mask, lane_id() < SET_WORDS && word != full_mask);
    if (open == 0) return window;
    const int owner = __ffs(open) - 1;
    return owner * 32 + __ffs(~__shfl_sync(full_mask, word, owner)) - 1;
}

// For a vertex whose first `window` colors are all taken and that waits for no neighbor: searches further windows,
// reading its whole row again. Costs a pass per window; only vertices of degree `window` and more can need it.
__device__ __forceinline__ int search_further(int v, const Graph& g, const int* state, unsigned* set) {
    const int lane = lane_id(), first = g.offsets[v], last = g.offsets[v + 1], class_v = g.rank[v];
    for (int low = window;; low += window) {
        set[lane] = 0;
        __syncwarp();
        for (int j = first + lane; j < last; j += 32) {
            const int u = g.targets[j];
            const int s = load_relaxed(state + u);
            if (s >= 0 || !before(g, u, g.rank[u], v, class_v)) continue;  // s >= 0: below 30, or uncolored
            const int color = (s & 0x7fffffff) - low;
            if (color >= 0 && color < window) atomicOr(set + (color >> 5), 1u << (color & 31));
        }
        __syncwarp();
        const int color = smallest_free(set[lane]);
        if (color < window) return low + color;
    }
}

// A warp polls the `pending` neighbors in up[0..pending) until the color of v is certain, and colors it. `up` is
// overwritten.
__device__ __forceinline__ void color_by_warp(int v, int* up, int pending, const Graph& g, int* state, int* colors,
                                       unsigned* set) {
    const int lane = lane_id();
    // k predecessors: the color is at most k
    const int initial = pending < single_bit_colors ? (2 << pending) - 1 : all_colors;
    int possible = initial, published = initial, u = -1;
    bool in_registers = false;  // the last 32 neighbors, one per lane
    set[lane] = 0;
    __syncwarp();
    for (;;) {
        int neighbor_colors = 0;  // colors that this lane's remaining neighbors may still take
        if (in_registers) {
            const int s = u < 0 ? 0 : load_relaxed(state + u);
            if (can_drop(s, possible, set)) u = -1;
            else neighbor_colors = s;
            pending = __popc(__ballot_sync(full_mask, u >= 0));
        } else {
            int kept = 0;
            for (int j = 0; j < pending; j += 32) {
                u = j + lane < pending ? up[j + lane] : -1;
                const int s = u < 0 ? 0 : load_relaxed(state + u);
                if (can_drop(s, possible, set)) u = -1;
                else neighbor_colors |= s;
                const unsigned votes = __ballot_sync(full_mask, u >= 0);
                if (u >= 0) up[kept + __popc(votes & ((1u << lane) - 1))] = u;  // kept <= j: this row has been read
                kept += __popc(votes);
            }
            __syncwarp();
            pending = kept;
            in_registers = pending <= 32;
            if (in_registers) u = lane < pending ? up[lane] : -1;
        }
        __syncwarp();
        const unsigned word = set[lane];
        int color = smallest_free(word);
        possible = (initial & beyond) | (initial & (beyond - 1) & ~__shfl_sync(full_mask, word, 0));
        const bool contested = __any_sync(full_mask, neighbor_colors >> min(color, single_bit_colors) & 1);
        if (pending == 0 || (EARLY && !contested && color < window)) {
            if (color == window) color = search_further(v, g, state, set);
            if (lane == 0) publish_color(state, colors, v, color);
            return;
        }
        if (EARLY && possible != published) {
            if (lane == 0) store_relaxed(state + v, possible);
            published = possible;
        }
    }
}
