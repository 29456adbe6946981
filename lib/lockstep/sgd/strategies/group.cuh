// Resident tiles: state of a group of lanes, the dot product through shared memory, and the update.
#pragma once
#include "update.cuh"

// Exchange of the lanes' partial sums of a dot product through shared memory: one store and LANES independent loads
// instead of a chain of shuffles. `buffer`: 32 floats of the warp; consecutive exchanges alternate buffers.
struct PartialSums {
    float s[LANES];
    // In the order of `dot` in update.cuh: bit-identical.
    __device__ __forceinline__ float sum() {
        #pragma unroll
        for (int width = LANES / 2; width; width /= 2) {
            #pragma unroll
            for (int l = 0; l < width; ++l) s[l] = __fadd_rn(s[l], s[l + width]);
        }
        return s[0];
    }
};
__device__ __forceinline__ PartialSums exchange(const Vector& a, const Vector& b, float* buffer) {
    buffer[lane_id()] = lane_dot(a, b);
    __syncwarp();
    PartialSums parts;
    #pragma unroll
    for (int l = 0; l < LANES; ++l) parts.s[l] = buffer[lane_id() / LANES * LANES + l];
    return parts;
}
__device__ __forceinline__ void apply_error(Vector& user, Vector& item, float scaled_error, float decay) {
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const float4 u = user.chunk[c], i = item.chunk[c];
        user.chunk[c] = plus(times(u, decay), scaled_error, i);
        item.chunk[c] = plus(times(i, decay), scaled_error, u);
    }
}

// groups per warp; their slots are interleaved: no bank conflicts
constexpr int GROUPS_PER_WARP = 32 / LANES;

// A slot of a batch: the operands of one update except the vectors. An empty slot has rate 0, decay 1 and the group's
// dummy user, so that its update changes nothing and needs no branch.
struct __align__(16) Slot {
    int user_offset;      // user vector's offset in the buffer, in 16-byte units
    float scaled_rating;  // rate * rating
    float rate, decay;
};

// State of a group.
struct Group {
    float* exchange_buffers;   // two per warp, 32 floats each
    unsigned* lock;
    float* users;         // of the present tile
    float* items;         // of the block
    Slot* slots;
    int* slot_items;      // index of each slot's item, or -1
    int dummy;            // offset of the dummy user, as Slot::user_offset
    float rate, decay;
    int item_index = -1;  // index of the item in registers, or -1
    Vector item = {};
    Tally tally;

    __device__ __forceinline__ void fill(int slot, int2 edge, bool live) {
        slots[slot * GROUPS_PER_WARP] = {live ? (edge.x & 0xffff) * (K / 4) : dummy,
                                    live ? __fmul_rn(rate, __int_as_float(edge.y)) : 0.0f, live ? rate : 0.0f,
                                    live ? decay : 1.0f};
        slot_items[slot * GROUPS_PER_WARP] = live ? edge.x >> 16 : -1;
    }
};

// Updates of each node so far, and each edge's positions in the histories of its two nodes: see update.cuh.
struct HistoryLog {
    int *user_updates, *item_updates, *user_position, *item_position;
    int first_user;
    const int* table;
    __device__ __forceinline__ void log(int edge, int user_index, int item_index) const {
        const int u = first_user + user_index, i = table[item_index];
        const int user_count = __ldcg(user_updates + u), item_count = __ldcg(item_updates + i);
        user_position[edge] = user_count;
        item_position[edge] = item_count;
        __stcg(user_updates + u, user_count + 1);
        __stcg(item_updates + i, item_count + 1);
    }
};
