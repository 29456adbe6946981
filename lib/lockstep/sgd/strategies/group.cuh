// Resident tiles: state of a group of lanes, the dot product through shared memory, and the update.
#pragma once
#include "update.cuh"

// Exchange of the lanes' partial sums of a dot product through shared memory: one store and LANES independent loads
// instead of a chain of shuffles. `box`: 32 floats of the warp; consecutive exchanges alternate boxes.
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
__device__ __forceinline__ PartialSums exchange(const Vector& a, const Vector& b, float* box) {
    float s[CHUNKS];
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) s[c] = chain(a.chunk[c], b.chunk[c]);
    #pragma unroll
    for (int width = CHUNKS / 2; width; width /= 2) {
        #pragma unroll
        for (int c = 0; c < width; ++c) s[c] = __fadd_rn(s[c], s[c + width]);
    }
    box[lane_id()] = s[0];
    __syncwarp();
    PartialSums parts;
    #pragma unroll
    for (int l = 0; l < LANES; ++l) parts.s[l] = box[lane_id() / LANES * LANES + l];
    return parts;
}
__device__ __forceinline__ void apply_gain(Vector& user, Vector& item, float gain, float keep) {
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
        const float4 u = user.chunk[c], i = item.chunk[c];
        user.chunk[c] = plus(times(u, keep), gain, i);
        item.chunk[c] = plus(times(i, keep), gain, u);
    }
}

// groups per warp; their slots are interleaved: no bank conflicts
constexpr int GROUPS_PER_WARP = 32 / LANES;

// A slot of a batch: the operands of one update except the vectors. An empty slot has rate 0, keep 1 and the group's
// dummy user, so that its update changes nothing and needs no branch.
struct __align__(16) Slot {
    int at;               // user vector's offset in the buffer, in 16-byte units
    float scaled;         // rate * rating
    float rate, keep;
};

// State of a group.
struct Group {
    float* boxes;         // two per warp, 32 floats each
    unsigned* lock;
    float* users;         // of the present tile
    float* items;         // of the block
    Slot* slots;
    int* slot_items;      // index of each slot's item, or -1
    int dummy;            // offset of the dummy user, as Slot::at
    float rate, keep;
    int place = -1;       // index of the item in registers, or -1
    Vector item = {};
    Tally tally;

    __device__ __forceinline__ void fill(int slot, int2 edge, bool live) {
        slots[slot * GROUPS_PER_WARP] = {live ? (edge.x & 0xffff) * (K / 4) : dummy,
                                    live ? __fmul_rn(rate, __int_as_float(edge.y)) : 0.0f, live ? rate : 0.0f,
                                    live ? keep : 1.0f};
        slot_items[slot * GROUPS_PER_WARP] = live ? edge.x >> 16 : -1;
    }
};

struct HistoryLog {           // history counters and logs: see update.cuh
    int *user, *item, *user_turn, *item_turn;
    int first_user;
    const int* table;
    __device__ __forceinline__ void log(int id, int user_place, int item_place) const {
        const int u = first_user + user_place, i = table[item_place];
        const int user_at = __ldcg(user + u), item_at = __ldcg(item + i);
        user_turn[id] = user_at;
        item_turn[id] = item_at;
        __stcg(user + u, user_at + 1);
        __stcg(item + i, item_at + 1);
    }
};
