// An item with a block of its own: one warp applies its updates in sequence, without locks.
#pragma once
#include "group.cuh"

constexpr int PIPELINE_DEPTH = 4;    // depth of the pipeline, in updates
constexpr int UNROLL = 16;   // updates per unrolled iteration

// An edge of such an item.
struct __align__(8) Entry {
    int at;               // user vector's offset in the buffer, in 16-byte units
    float scaled;         // rate * rating
};

// State of the warp. The item's edges form one stream through all tiles; the lanes hold the first two chunks of 32
// edges of the next tile.
struct Stream {
    const int2* edges;
    Entry* ring;          // two chunks of 32
    int2 near, far;
    __device__ __forceinline__ void open(int at) {
        near = edges[at + lane_id()];
        far = edges[at + 32 + lane_id()];
    }
    __device__ __forceinline__ void refill(int at, int2 edge, float rate) {
        __syncwarp();
        ring[at + lane_id()] = {(edge.x & 0xffff) * (K / 4), __fmul_rn(rate, __int_as_float(edge.y))};
        __syncwarp();
    }
};

// A software pipeline of updates: while the partial sums of one are exchanged, the previous one is stored, and the
// vector of the update AHEAD after that is loaded. The warp's first group computes; the others run on dummy vectors.
struct Chain {
    float4* users;        // the buffer, from this lane's first chunk on
    bool works;
    int dummy;
    float4* at[PIPELINE_DEPTH];
    float scaled[PIPELINE_DEPTH];
    Vector user[PIPELINE_DEPTH];

    __device__ __forceinline__ void prefetch(int j, Entry next) {
        scaled[j] = next.scaled;
        at[j] = users + (works ? next.at : dummy);
        #pragma unroll
        for (int c = 0; c < CHUNKS; ++c) user[j].chunk[c] = at[j][LANES * c];
    }
    __device__ __forceinline__ void update(Group& g, int j, PartialSums& parts, int id, const HistoryLog& clocks) {
        apply_gain(user[j], g.item, __fmaf_rn(-g.rate, parts.sum(), scaled[j]), g.keep);
        if (LOG && works && lane_in_group() == 0) clocks.log(id, (int)(at[j] - users) / (K / 4), 0);
    }
    __device__ __forceinline__ void finish(int j, Entry next) {
        #pragma unroll
        for (int c = 0; c < CHUNKS; ++c) at[j][LANES * c] = user[j].chunk[c];
        prefetch(j, next);
    }
};

// The edges of the item in one tile: a chain of updates without locks, since the block has no other item. Any AHEAD
// consecutive users differ (see `distinct` in resident.py), so a vector loaded AHEAD updates early is not stale.
// Entries beyond the tile are loaded, never applied. Warp votes make conditions provably uniform.
__device__ __forceinline__ void work_alone(Group& g, Stream& stream, int begin, int end, const HistoryLog& clocks) {
    int2 coming = stream.far;
    stream.refill(0, stream.near, g.rate);
    stream.open(end);
    Chain chain{reinterpret_cast<float4*>(g.users) + lane_in_group(), lane_id() < LANES, g.dummy};
    #pragma unroll
    for (int j = 0; j < PIPELINE_DEPTH; ++j) chain.prefetch(j, stream.ring[j]);
    #pragma unroll 1
    for (int past = 0; __any_sync(full_mask, begin + past < end); past += UNROLL) {
        const int k = begin + past;
        if (past % 32 == 0) {
            stream.refill((past + 32) % 64, coming, g.rate);
            coming = stream.edges[k + 64 + lane_id()];
            if (k + (int)lane_id() < end) g.tally.add(k + lane_id());
        }
        const Entry *here = stream.ring + past % 64, *there = stream.ring + (past + UNROLL) % 64;
        if (__all_sync(full_mask, k + UNROLL <= end)) {
            #pragma unroll
            for (int j = 0; j <= UNROLL; ++j) {
                const int done = j - 1, next = done + PIPELINE_DEPTH;
                PartialSums parts;
                if (j < UNROLL) parts = exchange(chain.user[j % PIPELINE_DEPTH], g.item, g.boxes + 32 * (j % 2));
                if (j > 0) chain.finish(done % PIPELINE_DEPTH, next < UNROLL ? here[next] : there[next - UNROLL]);
                if (j < UNROLL) chain.update(g, j % PIPELINE_DEPTH, parts, k + j, clocks);
            }
        } else {
            #pragma unroll 1
            for (int i = 0; i < UNROLL; i += PIPELINE_DEPTH) {
                const Entry* next = i + PIPELINE_DEPTH < UNROLL ? here + i + PIPELINE_DEPTH : there;
                #pragma unroll
                for (int j = 0; j < PIPELINE_DEPTH; ++j) {
                    if (!__all_sync(full_mask, k + i + j < end)) continue;
                    PartialSums parts = exchange(chain.user[j], g.item, g.boxes + 32 * (j % 2));
                    chain.update(g, j, parts, k + i + j, clocks);
                    chain.finish(j, next[j]);
                }
            }
        }
    }
}
