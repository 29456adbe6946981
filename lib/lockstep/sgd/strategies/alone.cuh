// An item with a block of its own: one warp applies its updates in sequence, without locks.
#pragma once
#include "group.cuh"

constexpr int AHEAD = 4;    // depth of the pipeline, in updates
constexpr int BLOCK = 16;   // updates per unrolled iteration

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
    float4* at[AHEAD];
    float scaled[AHEAD];
    Vector user[AHEAD];

    __device__ __forceinline__ void prefetch(int j, Entry next) {
        scaled[j] = next.scaled;
        at[j] = users + (works ? next.at : dummy);
        #pragma unroll
        for (int c = 0; c < CHUNKS; ++c) user[j].chunk[c] = at[j][LANES * c];
    }
    __device__ __forceinline__ void update(Group& g, int j, Parts& parts, int id, const Clocks& clocks) {
        apply_gain(user[j], g.item, __fmaf_rn(-g.rate, parts.sum(), scaled[j]), g.keep);
        if (LOG && works && part() == 0) clocks.log(id, (int)(at[j] - users) / (K / 4), 0);
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
__device__ __forceinline__ void work_alone(Group& g, Stream& stream, int begin, int end, const Clocks& clocks) {
    int2 coming = stream.far;
    stream.refill(0, stream.near, g.rate);
    stream.open(end);
    Chain chain{reinterpret_cast<float4*>(g.users) + part(), lane_id() < LANES, g.dummy};
    #pragma unroll
    for (int j = 0; j < AHEAD; ++j) chain.prefetch(j, stream.ring[j]);
    #pragma unroll 1
    for (int past = 0; __any_sync(full_mask, begin + past < end); past += BLOCK) {
        const int k = begin + past;
        if (past % 32 == 0) {
            stream.refill((past + 32) % 64, coming, g.rate);
            coming = stream.edges[k + 64 + lane_id()];
            if (k + (int)lane_id() < end) g.tally.add(k + lane_id());
        }
        const Entry *here = stream.ring + past % 64, *there = stream.ring + (past + BLOCK) % 64;
        if (__all_sync(full_mask, k + BLOCK <= end)) {
            #pragma unroll
            for (int j = 0; j <= BLOCK; ++j) {
                const int done = j - 1, next = done + AHEAD;
                Parts parts;
                if (j < BLOCK) parts = exchange(chain.user[j % AHEAD], g.item, g.boxes + 32 * (j % 2));
                if (j > 0) chain.finish(done % AHEAD, next < BLOCK ? here[next] : there[next - BLOCK]);
                if (j < BLOCK) chain.update(g, j % AHEAD, parts, k + j, clocks);
            }
        } else {
            #pragma unroll 1
            for (int i = 0; i < BLOCK; i += AHEAD) {
                const Entry* next = i + AHEAD < BLOCK ? here + i + AHEAD : there;
                #pragma unroll
                for (int j = 0; j < AHEAD; ++j) {
                    if (!__all_sync(full_mask, k + i + j < end)) continue;
                    Parts parts = exchange(chain.user[j], g.item, g.boxes + 32 * (j % 2));
                    chain.update(g, j, parts, k + i + j, clocks);
                    chain.finish(j, next[j]);
                }
            }
        }
    }
}
