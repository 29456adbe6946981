// Numbers for vertices that share slots in turns (records.cuh): vertices that get ready at about the same time get
// places near one another.
//
// The level in which a vertex gets ready is not known beforehand, but an estimate suffices, as long as it is wrong by
// less than there are slots: how many steps lead back from it to a source, along one predecessor of each vertex. They
// are counted by pointer jumping, in log2(steps) rounds. Which predecessor does not matter, but that it is no late
// source, nor hardly behind one: so a few steps are tried first, along any predecessors, and then each vertex follows
// the one that came farthest. By its steps a vertex goes to one of some hundred bins, and within a bin it does not
// matter who comes first. A graph with arcs from anywhere to anywhere defeats the guess. Then arcs conflict in their
// slots, which is seen and costs time, no more.
//
// References: J. Wyllie, "The complexity of parallel computations", PhD thesis, Cornell 1979 (pointer jumping).
#pragma once

constexpr int first_rounds = 4;  // of pointer jumping: enough to tell vertices near a source

// One round: every jump as far as two. Returns whether any has become longer. From a cycle no source is reached, and n
// steps stand for all that: a path has fewer.
__device__ inline bool jump_on(int n, Word* jumps) {
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

// jumps: n words. The rows are not there yet, so links are; what block 0 uses while it is alone is free, so blocks
// count there. By all blocks; the numbers are there after the next barrier.
__device__ __noinline__ void number_by_steps(const Problem p, const Records r, Word* jumps, unsigned* barrier) {
    int *totals = r.totals(), *most = totals + bins, *changed = most + 1, *scratch = reinterpret_cast<int*>(p.ring);
    unsigned* links = reinterpret_cast<unsigned*>(p.rows);
    // Where a vertex's jump leads in the lower half, and how many steps that is in the upper one. First along any
    // predecessor.
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
        jump_on(p.n, jumps);
    }
    grid_barrier(barrier);
    // Then along the predecessor of most steps. So few fit beside its number, and are enough.
    const int bits = 32 - __clz(p.n);
    const unsigned enough = min(1u << first_rounds, (1u << (32 - bits)) - 2);
    auto link_to = [&](int v) { return (min(static_cast<unsigned>(load_relaxed(jumps + v) >> 32), enough) + 1) << bits | v; };
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
        if (jump_on(p.n, jumps)) store_relaxed(changed + round, 1);
    }
    auto steps = [&](int v) {
        const Word s = load_relaxed(jumps + v) >> 32;
        return s < static_cast<Word>(p.n) ? static_cast<int>(s) : 0;  // on or behind a cycle: never ready, and in its slot for good
    };
    int far = 0;
    for (int v = global_thread(); v < p.n; v += global_threads()) far = max(far, steps(v));
    for (int step = 16; step > 0; step /= 2) far = max(far, __shfl_xor_sync(full_mask, far, step));
    if (lane_id() == 0) atomicMax(most, far);
    for (int i = threadIdx.x; i < bins; i += blockDim.x) scratch[i] = 0;
    grid_barrier(barrier);
    const long long all = load_relaxed(most) + 1ll;
    auto bin = [&](int v) { return static_cast<int>(static_cast<long long>(steps(v)) * bins / all); };
    // A block counts its vertices of each bin, and takes so many places there; then come the sizes of the bins before.
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
        r.numbers[v] = number;
        r.vertices[number] = v;
    }
}

// All that block 0 needs before it goes by records, `first` if that is for the first time; by all blocks. Returns
// whether there is room.
__device__ inline bool get_ready(const Problem& p, const Records& r, int begin, bool first, Word* jumps, unsigned* barrier) {
    if (first) {
        if (r.numbers) {
            number_by_steps(p, r, jumps, barrier);
            grid_barrier(barrier);
        }
        make_codes(p, r);
        grid_barrier(barrier);
        make_records(p, r);
    }
    if (global_thread() == 0) store_relaxed(r.placed(), begin);
    find_counters(p, r);
    grid_barrier(barrier);  // this one waits for stores: block 0 reads what others wrote
    return load_relaxed(r.crowded()) == 0;
}
