// Resident tiles: for data with many ratings per user. A tile is the edges between a block's items and a range of
// users; both of its sides are in shared memory. A sweep applies every edge once.
//
// Idea. As in tiles.cu, a block owns items for a whole sweep and ranges of users rotate among blocks, passed on by
// `blocks_done`, the number of blocks that have finished a range. Loading each edge's user from global memory would put
// its latency on the chain of updates; so the whole range is copied:
//   - One warp (the mover) fetches the range of the next tile and writes back that of the previous one, while the
//     others work on the present tile. So the computing warps read from global memory only tile bounds and edges, in
//     order, one batch ahead.
//   - Inside a tile two groups can update the same user: a group try-locks the users of its next batch, applies the
//     locked edges, unlocks. Few warps, because held locks conflict.
//   - The edges of the largest item are the critical path. Such an item has a block to itself, in which only one warp
//     updates users: no locks and an uninterrupted chain of updates, see update_dedicated. The dependency from
//     one update to the next is a dot product and two multiply-adds.
//   - The partial sums of a dot product are exchanged through shared memory: see exchange.
//
// racecheck does not model locks: it reports users' vectors that several warps exchange under locks, and nothing with
// one working warp (threads=64). The logged runs are what verifies the locks.
//
// An edge is an int2: (the item's index in the block's table) << 16 | the user's index in its range; the rating's bits.
// Edges are sorted by (block, round, group, item).
// References: as in tiles.cu.
// compile: K=16 LANES=4 THREADS=160 BATCH=4 HALF=0,1
// compile: K=32 LANES=8 THREADS=160 BATCH=8
// compile: K=64 LANES=8 THREADS=160 BATCH=4 HALF=0,1
// compile: K=32 LANES=8 THREADS=160 BATCH=8 LOG=1
// compile: K=32 LANES=8 THREADS=160 BATCH=8 HALF=1
#include "alone.cuh"

#ifndef THREADS
#define THREADS 160
#endif
#ifndef BATCH
#define BATCH LANES       // edges that a group locks at once
#endif

constexpr int WORKING_GROUPS = (THREADS - 32) / LANES;    // of a block: the first warp moves the users
constexpr int DUMMY_STRIDE = K / 4 + (LANES < 8 ? LANES : 0);   // 16-byte stride of the groups' dummies: distinct banks

// Locks are single bits of shared memory. Idle lanes issue a no-op atomic, avoiding divergence.
__device__ __forceinline__ unsigned lock_bit(int k, bool wanted) { return wanted ? 1u << (k & 31) : 0u; }
__device__ __forceinline__ bool try_lock_bit(unsigned* bits, int k, bool wanted) {
    if (LOCK_DELAY) delay_cycles(LOCK_DELAY);
    const unsigned bit = lock_bit(k, wanted);
    return wanted & !(atomicOr(bits + (k >> 5), bit) & bit);
}
__device__ __forceinline__ void unlock_bit(unsigned* bits, int k, bool held) {
    atomicAnd(bits + (k >> 5), ~lock_bit(k, held));
}

__device__ __forceinline__ Vector load_shared_at(const float* users, int at) {
    Vector v;
    const float4* vector = reinterpret_cast<const float4*>(users) + lane_in_group() + at;
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) v.chunk[c] = vector[LANES * c];
    return v;
}
__device__ __forceinline__ void store_shared_at(float* users, int at, const Vector& v) {
    float4* vector = reinterpret_cast<float4*>(users) + lane_in_group() + at;
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) vector[LANES * c] = v.chunk[c];
}

// Applies the edges in the slots in sequence.
__device__ __forceinline__ void apply(Group& g) {
    Slot slot[BATCH];
    int item_index[BATCH];
    Vector user[BATCH];
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) {
        slot[j] = g.slots[j * GROUPS_PER_WARP];
        item_index[j] = g.slot_items[j * GROUPS_PER_WARP];
    }
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) user[j] = load_shared_at(g.users, slot[j].user_offset);
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) {
        if (item_index[j] >= 0 && item_index[j] != g.item_index) {
            if (g.item_index >= 0) store_shared(g.items, g.item_index, g.item);
            g.item_index = item_index[j];
            g.item = load_shared(g.items, g.item_index);
        }
        __syncwarp();
        PartialSums parts = exchange(user[j], g.item, g.exchange_buffers + 32 * (j % 2));
        apply_error(user[j], g.item, __fmaf_rn(-slot[j].rate, parts.sum(), slot[j].scaled_rating), slot[j].decay);
    }
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) store_shared_at(g.users, slot[j].user_offset, user[j]);
}

// Lock, compute, unlock: one edge for each of the first BATCH lanes of a group. Edges are loaded unconditionally, which
// is cheaper than a branch.
__device__ __forceinline__ void update_locked(Group& g, const int2* edges, int begin, int end,
                                              const HistoryLog& history) {
    // the edge that this lane locks next
    int edge_index = lane_in_group() < BATCH && begin + lane_in_group() < end ? begin + lane_in_group() : -1;
    int2 edge = edges[max(edge_index, 0)];
    while (__any_sync(full_mask, edge_index >= 0)) {
        const int user = edge.x & 0xffff, item = edge.x >> 16;
        const bool locked = try_lock_bit(g.lock, user, edge_index >= 0);
        if (!__any_sync(full_mask, locked)) continue;
        fence_block();
        if (lane_in_group() < BATCH) g.fill(lane_in_group(), edge, locked);
        const int applied = locked ? edge_index : -1;
        if (locked) edge_index = edge_index + BATCH < end ? edge_index + BATCH : -1;
        edge = edges[max(edge_index, 0)];
        __syncwarp();
        apply(g);
#if LOG
        #pragma unroll 1
        for (int j = 0; j < BATCH; ++j) {
            if (lane_in_group() == j && locked) history.log(applied, user, item);
            fence_gpu();
            __syncwarp();
        }
#endif
        __syncwarp();
        fence_block();
        unlock_bit(g.lock, user, locked);
        if (locked) g.tally.add(applied);
    }
}

// The mover, one warp: fetches and writes back ranges. Lane k moves the pieces k, k + 32, ... of the buffer both ways,
// so no barrier is needed between writing back a range and fetching the next.
struct Mover {
    Stored* vectors;
    const int* range_offsets;
    unsigned* blocks_done;
    int first_range, rounds, stride;

    __device__ __forceinline__ int range(int round) const {
        const int r = first_range + round;
        return r < rounds ? r : r - rounds;
    }
    // Copies the range of a round into `buffer`, once the preceding blocks have released it.
    __device__ __forceinline__ void fetch_range(float* buffer, int round) const {
        const int range_index = range(round), first_user = range_offsets[range_index];
        const int count = range_offsets[range_index + 1] - first_user;
        const Stored* source = vectors + (long)first_user * K;
        if (lane_id() == 0) {
            while (load_acquire(blocks_done + range_index) != (unsigned)(round / stride)) pause(50);
        }
        __syncwarp();
#if defined(LOCKSTEP_HOST) || HALF
        #pragma unroll 8
        for (int k = lane_id(); k < count * (K / 4); k += 32) {
            reinterpret_cast<float4*>(buffer)[k] = load_chunk(source + 4 * (long)k);
        }
#else
        #pragma unroll 4
        for (int k = lane_id(); k < count * (K / 4); k += 32) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"((unsigned)__cvta_generic_to_shared(buffer + 4 * k)), "l"(source + 4 * (long)k)
                         : "memory");
        }
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    }
    __device__ __forceinline__ void store_range(const float* buffer, int round) const {
        const int range_index = range(round), first_user = range_offsets[range_index];
        const int count = range_offsets[range_index + 1] - first_user;
        Stored* target = vectors + (long)first_user * K;
        #pragma unroll 8
        for (int k = lane_id(); k < count * (K / 4); k += 32) {
            store_chunk(target + 4 * (long)k, reinterpret_cast<const float4*>(buffer)[k]);
        }
        __syncwarp();
        if (lane_id() == 0) {
            fence_gpu();
            store_release(blocks_done + range_index, (unsigned)(round / stride) + 1u);
        }
    }
};

// There are rounds = blocks * stride ranges (stride: 2 or more). Block b has range (b * stride + v) % rounds in round
// v, after v / stride other blocks. blocks_done: one a range, zero at the start. offsets: the first edge of
// each (block, round, group); range_offsets: the first user of each range of at most `room`. alone: whether a block has
// a single item, of distinct users. `edges` is padded by 96 entries, which are loaded but not applied.
// Shared memory: two buffers, each of `room` vectors and a dummy vector per group; ring; exchange buffers; slots and
// their items; items; locks.
extern "C" __global__ void __launch_bounds__(THREADS, 1) resident(
    const int* offsets, const int* range_offsets, int rounds, int stride, int room, const int* alone, const int2* edges,
    const int* table, const int* table_offsets, unsigned* blocks_done,
    Stored* user_vectors, Stored* item_vectors, float rate, float decay, int* user_clock, int* item_clock,
    int* user_rank, int* item_rank, unsigned long long* applied) {
    DYNAMIC_SHARED(float, shared);
    // of each buffer; includes the dummies, so that one offset addresses either
    const int buffer = room * K + WORKING_GROUPS * DUMMY_STRIDE * 4;
    Entry* ring = reinterpret_cast<Entry*>(shared + 2 * buffer);
    float* exchange_buffers = reinterpret_cast<float*>(ring + 64);
    Slot* slots = reinterpret_cast<Slot*>(exchange_buffers + THREADS / 32 * 64);
    int* slot_items = reinterpret_cast<int*>(slots + WORKING_GROUPS * BATCH);
    float* items = reinterpret_cast<float*>(slot_items + (WORKING_GROUPS * BATCH + 3) / 4 * 4);
    const int table_first = table_offsets[blockIdx.x], table_size = table_offsets[blockIdx.x + 1] - table_first;
    unsigned* lock = reinterpret_cast<unsigned*>(items + table_size * K);
    // Warp votes: make the conditions provably uniform.
    const bool is_mover = __any_sync(full_mask, block_thread() < 32);
    const bool is_dedicated = __all_sync(full_mask, alone[blockIdx.x] && block_thread() >= 32 && block_thread() < 64);
    const int group_index = is_mover ? 0 : (block_thread() - 32) / LANES, all_groups = THREADS / LANES;

    for (int k = block_thread(); k < room / 32 + 1; k += THREADS) lock[k] = 0;
    for (int k = block_thread(); k < WORKING_GROUPS * DUMMY_STRIDE * 4; k += THREADS) {
        shared[room * K + k] = 0.0f;
        shared[buffer + room * K + k] = 0.0f;
    }
    for (int k = block_thread() / LANES; k < table_size; k += all_groups) {
        store_shared(items, k, load(item_vectors, table[table_first + k]));
    }
    const int first_slot = group_index / GROUPS_PER_WARP * GROUPS_PER_WARP * BATCH + group_index % GROUPS_PER_WARP;
    Group g{exchange_buffers + block_thread() / 32 * 64, lock, shared, items, slots + first_slot,
            slot_items + first_slot, room * (K / 4) + group_index * DUMMY_STRIDE, rate, decay};
    const int first_range = (int)((long)blockIdx.x * stride % rounds);
    const int* edge_start = offsets + (long)blockIdx.x * rounds * WORKING_GROUPS + (is_dedicated ? 0 : group_index);
    Mover mover{user_vectors, range_offsets, blocks_done, first_range, rounds, stride};
    int next_begin = 0, next_end = 0;   // of this group's edges in the next tile
    Stream stream{edges, ring};
    if (is_mover) {
        mover.fetch_range(shared, 0);
    } else {
        next_begin = edge_start[0];
        next_end = edge_start[1];
    }
    if (is_dedicated) stream.load_chunks(next_begin);
    for (int v = 0; v < rounds; ++v) {
        __syncthreads();      // the tile is loaded and the previous one computed
        if (is_mover) {
            float* other_buffer = shared + ((v + 1) & 1) * buffer;
            if (v > 0) mover.store_range(other_buffer, v - 1);
            if (v + 1 < rounds) mover.fetch_range(other_buffer, v + 1);
        } else {
            const int begin = next_begin, end = next_end;
            if (v + 1 < rounds) {
                next_begin = edge_start[(v + 1) * WORKING_GROUPS];
                next_end = edge_start[(v + 1) * WORKING_GROUPS + 1];
            }
            g.users = shared + (v & 1) * buffer;
            const HistoryLog history{user_clock, item_clock, user_rank, item_rank,
                                     LOG ? range_offsets[mover.range(v)] : 0, table + table_first};
            if (is_dedicated) {
                if (v == 0) {
                    g.item_index = lane_id() < LANES ? 0 : -1;
                    g.item = load_shared(items, 0);
                }
                update_dedicated(g, stream, begin, end, history);
            } else {
                update_locked(g, edges, begin, end, history);
            }
        }
    }
    if (!is_mover && g.item_index >= 0) store_shared(items, g.item_index, g.item);
    __syncthreads();
    if (is_mover) mover.store_range(shared + ((rounds - 1) & 1) * buffer, rounds - 1);
    for (int k = block_thread() / LANES; k < table_size; k += all_groups) {
        store(item_vectors, table[table_first + k], load_shared(items, k));
    }
    g.tally.report(applied);
}
