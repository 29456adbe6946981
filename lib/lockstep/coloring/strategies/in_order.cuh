// Sorts waiting.cu's vertices of high degree by priority, if they outnumber the warps.
#pragma once

// Exclusive prefix sum of the class sizes, largest degree first; called by a block's first warp.
__device__ __forceinline__ void class_offsets(const int* sizes, int* begin) {
    const int lane = lane_id();
    int sum = 0;
    for (int i = classes - 1 - lane; i >= 0; i -= 32) {
        const int size = sizes[i];
        int through = size;
        for (int d = 1; d < 32; d *= 2) {
            const int other = __shfl_up_sync(full_mask, through, d);
            if (lane >= d) through += other;
        }
        begin[i] = sum + through - size;
        sum += __shfl_sync(full_mask, through, 31);
    }
}

// The bucket of a vertex: its class's first bucket plus its complemented, scaled hash.
__device__ __forceinline__ int bucket_of(int v, const Graph& g, const int* sizes, const int* begin) {
    const int c = g.rank[v];
    const unsigned long long complement = ~priority_hash(v, g.seed);
    return begin[c] / bucket_size + classes - 1 - c + static_cast<int>(complement * sizes[c] >> 32) / bucket_size;
}

// Bucket sort of big[0..bigs) by priority, in place: count per bucket, prefix sum over the buckets, scatter, rank
// within each bucket. filled: zero for each bucket, before and after.
__device__ __forceinline__ void sort(int* big, int bigs, int* sorted, int* filled, int* starts, const int* sizes,
                                     const int* begin, const Graph& g, unsigned* control) {
    const int buckets = bigs / bucket_size + classes, blocks = gridDim.x, lane = lane_id();
    for (int i = global_thread(); i < bigs; i += global_threads())
        atomicAdd(filled + bucket_of(big[i], g, sizes, begin), 1);
    grid_barrier(control);

    const int per_block = (buckets + blocks - 1) / blocks;
    const int first = min(static_cast<int>(blockIdx.x) * per_block, buckets);
    if (warp_id() == 0) {
        int sum = 0;
        for (int i = lane; i < first; i += 32) sum += filled[i];
        for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(full_mask, sum, d);
        for (int i = first; i < min(first + per_block, buckets); ++i) {
            if (lane == 0) starts[i] = sum;
            sum += filled[i];
        }
        if (lane == 0 && first + per_block >= buckets) starts[buckets] = bigs;
    }
    grid_barrier(control);

    for (int i = global_thread(); i < bigs; i += global_threads()) {
        const int v = big[i], s = bucket_of(v, g, sizes, begin);
        sorted[starts[s] + atomicSub(filled + s, 1) - 1] = v;
    }
    grid_barrier(control);

    for (int s = global_thread() / 32; s < buckets; s += global_threads() / 32) {
        const int from = starts[s], to = starts[s + 1];
        for (int i = from + lane; i < to; i += 32) {
            const int v = sorted[i];
            const unsigned hash_v = priority_hash(v, g.seed);
            int place = from;
            for (int j = from; j < to; ++j) place += priority_hash(sorted[j], g.seed) > hash_v;
            big[place] = v;
        }
    }
    grid_barrier(control);
}
