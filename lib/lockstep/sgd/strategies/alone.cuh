// An item with a block of its own: one warp applies its updates in sequence, without locks.
#pragma once
#include "group.cuh"

constexpr int PIPELINE_DEPTH = 4;   // updates in flight
constexpr int UNROLL = 16;          // updates per unrolled iteration

// An edge of such an item.
struct __align__(8) Entry {
    int user_offset;      // user vector's offset in the buffer, in 16-byte units
    float scaled_rating;  // rate * rating
};

// State of the warp. The item's edges form one stream through all tiles; the lanes hold the first two chunks of 32
// edges of the next tile.
struct Stream {
    const int2* edges;
    Entry* ring;          // two chunks of 32
    int2 chunk0, chunk1;
    __device__ __forceinline__ void load_chunks(int first_edge) {
        chunk0 = edges[first_edge + lane_id()];
        chunk1 = edges[first_edge + 32 + lane_id()];
    }
    __device__ __forceinline__ void refill(int start, int2 edge, float rate) {
        __syncwarp();
        ring[start + lane_id()] = {(edge.x & 0xffff) * (K / 4), __fmul_rn(rate, __int_as_float(edge.y))};
        __syncwarp();
    }
};

// A software pipeline of updates: while the partial sums of one are exchanged, the previous one is stored, and the
// vector of the update PIPELINE_DEPTH after that is loaded. The warp's first group is active; the others run on dummy
// vectors.
struct UpdatePipeline {
    float4* users;        // the buffer, from this lane's first chunk on
    bool active;
    int dummy;
    float4* vector[PIPELINE_DEPTH];
    float scaled_rating[PIPELINE_DEPTH];
    Vector user[PIPELINE_DEPTH];

    __device__ __forceinline__ void prefetch(int j, Entry next) {
        scaled_rating[j] = next.scaled_rating;
        vector[j] = users + (active ? next.user_offset : dummy);
        #pragma unroll
        for (int c = 0; c < CHUNKS; ++c) user[j].chunk[c] = vector[j][LANES * c];
    }
    __device__ __forceinline__ void update(Group& g, int j, PartialSums& parts, int edge, const HistoryLog& history) {
        apply_error(user[j], g.item, __fmaf_rn(-g.rate, parts.sum(), scaled_rating[j]), g.decay);
        if (LOG && active && lane_in_group() == 0) history.log(edge, (int)(vector[j] - users) / (K / 4), 0);
    }
    __device__ __forceinline__ void finish(int j, Entry next) {
        #pragma unroll
        for (int c = 0; c < CHUNKS; ++c) vector[j][LANES * c] = user[j].chunk[c];
        prefetch(j, next);
    }
};

// The edges of the item in one tile: a chain of updates without locks, since the block has no other item. Any
// PIPELINE_DEPTH consecutive users differ (see `distinct` in resident.py), so a vector loaded that many updates early
// is not stale. Entries beyond the tile are loaded, never applied. Warp votes make conditions provably uniform.
__device__ __forceinline__ void update_dedicated(Group& g, Stream& stream, int begin, int end,
                                                 const HistoryLog& history) {
    int2 next_chunk = stream.chunk1;
    stream.refill(0, stream.chunk0, g.rate);
    stream.load_chunks(end);
    UpdatePipeline pipeline{reinterpret_cast<float4*>(g.users) + lane_in_group(), lane_id() < LANES, g.dummy};
    #pragma unroll
    for (int j = 0; j < PIPELINE_DEPTH; ++j) pipeline.prefetch(j, stream.ring[j]);
    #pragma unroll 1
    for (int offset = 0; __any_sync(full_mask, begin + offset < end); offset += UNROLL) {
        const int k = begin + offset;
        if (offset % 32 == 0) {
            stream.refill((offset + 32) % 64, next_chunk, g.rate);
            next_chunk = stream.edges[k + 64 + lane_id()];
            if (k + (int)lane_id() < end) g.tally.add(k + lane_id());
        }
        const Entry *entries = stream.ring + offset % 64, *next_entries = stream.ring + (offset + UNROLL) % 64;
        if (__all_sync(full_mask, k + UNROLL <= end)) {
            #pragma unroll
            for (int j = 0; j <= UNROLL; ++j) {
                const int done = j - 1, next = done + PIPELINE_DEPTH, stage = j % PIPELINE_DEPTH;
                PartialSums parts;
                if (j < UNROLL) parts = exchange(pipeline.user[stage], g.item, g.exchange_buffers + 32 * (j % 2));
                if (j > 0) {
                    pipeline.finish(done % PIPELINE_DEPTH,
                                    next < UNROLL ? entries[next] : next_entries[next - UNROLL]);
                }
                if (j < UNROLL) pipeline.update(g, stage, parts, k + j, history);
            }
        } else {
            #pragma unroll 1
            for (int i = 0; i < UNROLL; i += PIPELINE_DEPTH) {
                const Entry* next = i + PIPELINE_DEPTH < UNROLL ? entries + i + PIPELINE_DEPTH : next_entries;
                #pragma unroll
                for (int j = 0; j < PIPELINE_DEPTH; ++j) {
                    if (!__all_sync(full_mask, k + i + j < end)) continue;
                    PartialSums parts = exchange(pipeline.user[j], g.item, g.exchange_buffers + 32 * (j % 2));
                    pipeline.update(g, j, parts, k + i + j, history);
                    pipeline.finish(j, next[j]);
                }
            }
        }
    }
}
