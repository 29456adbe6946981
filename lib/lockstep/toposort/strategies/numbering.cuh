// Numbers for vertices that share slots in turns (records.cuh): adjacent places for vertices that get ready at
// about the same time.
//
// The level in which a vertex gets ready is unknown beforehand, but an estimate whose error in places is below the
// number of slots suffices: the number of steps from the vertex back to a source, along one predecessor of each vertex.
// Pointer jumping counts them in log2(steps) rounds. Any predecessor serves, except a source, or a vertex a few steps
// after one, among late predecessors: so a few steps are counted first, along arbitrary predecessors, and then each
// vertex follows the predecessor with the most steps. The steps assign a vertex to one of 512 bins, in arbitrary order
// within a bin. On random graphs the estimate fails; slots then conflict, which is detected and costs only time.
//
// References: J. Wyllie, "The complexity of parallel computations", PhD thesis, Cornell 1979 (pointer jumping).
#pragma once

constexpr int first_rounds = 4;  // of pointer jumping: enough to identify vertices near a source

// One round: extends every jump by that of its end vertex. Returns whether one of this thread's has changed. A vertex
// whose jumps lead into a cycle gets n steps, more than any path has.
__device__ inline bool pointer_jump(int n, Word* jumps) {
    bool any = false;
    for (int v = global_thread(); v < n; v += global_threads()) {
        const Word mine = load_relaxed(jumps + v), next = load_relaxed(jumps + static_cast<unsigned>(mine));
        if (next >> 32 == 0 || mine >> 32 >= static_cast<Word>(n)) continue;
        const Word steps = min((mine >> 32) + (next >> 32), static_cast<Word>(n));
        store_relaxed(jumps + v, steps << 32 | static_cast<unsigned>(next));
        any = true;
    }
    return any;
}

// jumps: n words. The links overlay the packed rows, which are not written yet; the blocks' bin counts overlay the
// ring, which is not in use yet. Called by all blocks; the numbers are valid after the next barrier.
__device__ __noinline__ void number_by_steps(const Problem p, const Records r, Word* jumps, unsigned* barrier) {
    int *totals = r.totals(), *max_steps = totals + bins, *changed = max_steps + 1;
    int* scratch = reinterpret_cast<int*>(p.ring);
    unsigned* links = reinterpret_cast<unsigned*>(p.rows);
    // A jump: its end vertex in the lower half, its number of steps in the upper one. First along any predecessor.
    for (int v = global_thread(); v < p.n; v += global_threads()) {
        store_relaxed(jumps + v, static_cast<Word>(v));
        store_relaxed(links + v, 0u);
    }
    grid_barrier(barrier);
    auto same = [](int target) { return static_cast<unsigned>(target); };
    for_arcs(p, same, same, [&](unsigned v, int, int target) {
        if (target >= 0) store_relaxed(jumps + target, Word(1) << 32 | v);
    });
    for (int round = 0; round < first_rounds; ++round) {
        grid_barrier(barrier);
        pointer_jump(p.n, jumps);
    }
    grid_barrier(barrier);
    // Then along the predecessor with the most steps, capped to fit beside its id.
    const int bits = 32 - __clz(p.n);
    const unsigned step_limit = min(1u << first_rounds, (1u << (32 - bits)) - 2);
    auto link_to =
        [&](int v) { return (min(static_cast<unsigned>(load_relaxed(jumps + v) >> 32), step_limit) + 1) << bits | v; };
    for_arcs(p, link_to, same, [&](unsigned link, int, int target) {
        if (target >= 0) atomicMax(links + target, link);
    });
    grid_barrier(barrier);
    for (int v = global_thread(); v < p.n; v += global_threads()) {
        const unsigned link = load_relaxed(links + v);
        store_relaxed(jumps + v, link ? Word(1) << 32 | (link & ((1u << bits) - 1)) : static_cast<Word>(v));
    }
    for (int round = 0; round < most_rounds; ++round) {
        grid_barrier(barrier);
        if (round > 0 && load_relaxed(changed + round - 1) == 0) break;
        if (pointer_jump(p.n, jumps)) store_relaxed(changed + round, 1);
    }
    auto steps = [&](int v) {
        const Word s = load_relaxed(jumps + v) >> 32;
        return s < static_cast<Word>(p.n) ? static_cast<int>(s) : 0;  // leads into a cycle: 0, never ready
    };
    int local_max = 0;
    for (int v = global_thread(); v < p.n; v += global_threads()) local_max = max(local_max, steps(v));
    for (int step = 16; step > 0; step /= 2) local_max = max(local_max, __shfl_xor_sync(full_mask, local_max, step));
    if (lane_id() == 0) atomicMax(max_steps, local_max);
    for (int i = threadIdx.x; i < bins; i += blockDim.x) scratch[i] = 0;
    grid_barrier(barrier);
    const long long step_values = load_relaxed(max_steps) + 1ll;
    auto bin = [&](int v) { return static_cast<int>(static_cast<long long>(steps(v)) * bins / step_values); };
    // A block counts its vertices per bin and reserves as many places there; a bin starts at the sum of earlier sizes.
    for (int v = global_thread(); v < p.n; v += global_threads()) atomicAdd(scratch + bin(v), 1);
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += blockDim.x) scratch[bins + i] = atomicAdd(totals + i, scratch[i]);
    grid_barrier(barrier);
    if (warp_id() == 0) {
        int before = 0;
        for (int i = lane_id(); i < bins; i += 32) {
            const int total = load_relaxed(totals + i), sum = scan_lanes(total);
            scratch[i] = before + sum - total + scratch[bins + i];
            before += __shfl_sync(full_mask, sum, 31);
        }
    }
    __syncthreads();
    for (int v = global_thread(); v < p.n; v += global_threads()) {
        const int place = atomicAdd(scratch + bin(v), 1), epoch = place / r.slots;
        const int number = (place - epoch * r.slots) << r.epoch_bits | epoch;
        r.number_of[v] = number;
        r.vertex_of[number] = v;
    }
}

// Prepares records for block 0 (`first`: for the first time), by all blocks. Returns whether the slots hold all counts.
__device__ inline bool build_records(const Problem& p, const Records& r, int begin, bool first, Word* jumps,
                                     unsigned* barrier) {
    if (first) {
        if (r.number_of) {
            number_by_steps(p, r, jumps, barrier);
            grid_barrier(barrier);
        }
        make_codes(p, r);
        grid_barrier(barrier);
        make_records(p, r);
    }
    if (global_thread() == 0) store_relaxed(r.placed(), begin);
    find_counters(p, r);
    grid_barrier(barrier);  // orders memory: block 0 reads other blocks' stores
    return load_relaxed(r.no_room_flag()) == 0;
}
