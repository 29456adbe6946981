// Resident tiles: tiles for data with many ratings per user. Both sides of a tile are in shared memory.
//
// Idea. As in tiles.cu, a block owns items for a whole sweep and ranges of users rotate among blocks, passed on by
// `turn`. Loading each edge's user from global memory would put its latency on the chain of updates; so the whole range
// is copied:
//   - One warp (the mover) fetches the range of the next tile and writes back that of the previous one, while the
//     others work on the present tile. So the computing warps read from global memory only tile bounds and edges, in
//     order, one batch ahead.
//   - Inside a tile two groups can update the same user: a group try-locks the users of its next batch, applies the
//     locked edges, unlocks. Few warps, because held locks conflict.
//   - The edges of the largest item are the critical path. Such an item has a block to itself, in which only one warp
//     updates users: no locks and an uninterrupted chain of updates, see work_alone. The dependency from one update to
//     the next is a dot product and two multiply-adds.
//   - The partial sums of a dot product are exchanged through shared memory: see exchange.
//
// racecheck does not model locks: it reports users' vectors that several warps exchange under locks, and nothing with
// one working warp (threads=64). The logged runs are what verifies the locks.
//
// An edge is an int2: (the item's index in the block's table) << 16 | the user's index in its range; the rating's bits.
// Edges are sorted by (block, range, group, item).
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

constexpr int GROUPS = (THREADS - 32) / LANES;    // the first warp moves the users
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
    const float4* from = reinterpret_cast<const float4*>(users) + lane_in_group() + at;
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) v.chunk[c] = from[LANES * c];
    return v;
}
__device__ __forceinline__ void store_shared_at(float* users, int at, const Vector& v) {
    float4* to = reinterpret_cast<float4*>(users) + lane_in_group() + at;
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) to[LANES * c] = v.chunk[c];
}

// Applies the edges in the slots in sequence.
__device__ __forceinline__ void apply(Group& g) {
    Slot now[BATCH];
    int place[BATCH];
    Vector user[BATCH];
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) {
        now[j] = g.slots[j * GROUPS_PER_WARP];
        place[j] = g.slot_items[j * GROUPS_PER_WARP];
    }
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) user[j] = load_shared_at(g.users, now[j].at);
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) {
        if (place[j] >= 0 && place[j] != g.place) {
            if (g.place >= 0) store_shared(g.items, g.place, g.item);
            g.place = place[j];
            g.item = load_shared(g.items, g.place);
        }
        __syncwarp();
        PartialSums parts = exchange(user[j], g.item, g.boxes + 32 * (j % 2));
        apply_gain(user[j], g.item, __fmaf_rn(-now[j].rate, parts.sum(), now[j].scaled), now[j].keep);
    }
    #pragma unroll
    for (int j = 0; j < BATCH; ++j) store_shared_at(g.users, now[j].at, user[j]);
}

// Lock, compute, unlock: one edge for each of the first BATCH lanes of a group. Edges are loaded unconditionally, which
// is cheaper than a branch.
__device__ __forceinline__ void work(Group& g, const int2* edges, int begin, int end, const HistoryLog& clocks) {
    // the edge that this lane locks next
    int id = lane_in_group() < BATCH && begin + lane_in_group() < end ? begin + lane_in_group() : -1;
    int2 edge = edges[max(id, 0)];
    while (__any_sync(full_mask, id >= 0)) {
        const int user = edge.x & 0xffff, item = edge.x >> 16;
        const bool won = try_lock_bit(g.lock, user, id >= 0);
        if (!__any_sync(full_mask, won)) continue;
        fence_block();
        if (lane_in_group() < BATCH) g.fill(lane_in_group(), edge, won);
        const int applied = won ? id : -1;
        if (won) id = id + BATCH < end ? id + BATCH : -1;
        edge = edges[max(id, 0)];
        __syncwarp();
        apply(g);
#if LOG
        #pragma unroll 1
        for (int j = 0; j < BATCH; ++j) {
            if (lane_in_group() == j && won) clocks.log(applied, user, item);
            fence_gpu();
            __syncwarp();
        }
#endif
        __syncwarp();
        fence_block();
        unlock_bit(g.lock, user, won);
        if (won) g.tally.add(applied);
    }
}

// The mover, one warp: fetches and writes back ranges. Lane k moves the pieces k, k + 32, ... of the buffer both ways,
// so no barrier is needed between writing back a range and fetching the next.
struct Mover {
    Stored* vectors;
    const int* range_starts;
    unsigned* turn;
    int first, rounds, stride;

    __device__ __forceinline__ int range(int round) const {
        const int r = first + round;
        return r < rounds ? r : r - rounds;
    }
    // Copies the range of a round into `buffer`, once the preceding blocks have released it.
    __device__ __forceinline__ void fetch_range(float* buffer, int round) const {
        const int which = range(round), from = range_starts[which], count = range_starts[which + 1] - from;
        const Stored* source = vectors + (long)from * K;
        if (lane_id() == 0) {
            while (load_acquire(turn + which) != (unsigned)(round / stride)) pause(50);
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
        const int which = range(round), from = range_starts[which], count = range_starts[which + 1] - from;
        Stored* target = vectors + (long)from * K;
        #pragma unroll 8
        for (int k = lane_id(); k < count * (K / 4); k += 32) {
            store_chunk(target + 4 * (long)k, reinterpret_cast<const float4*>(buffer)[k]);
        }
        __syncwarp();
        if (lane_id() == 0) {
            fence_gpu();
            store_release(turn + which, (unsigned)(round / stride) + 1u);
        }
    }
};

// Block b has range (b * stride + v) % rounds in round v, after v / stride other blocks. starts: the first edge of each
// (block, round, group); range_starts: the first user of each range of at most `room`. alone: whether a block has a
// single item, of distinct users. `edges` is padded by 96 entries, which are loaded but not applied.
// Shared memory: two buffers, each of `room` vectors and a dummy vector per group; ring; boxes; slots and their items;
// items; locks.
extern "C" __global__ void __launch_bounds__(THREADS, 1) resident(
    const int* starts, const int* range_starts, int rounds, int stride, int room, const int* alone, const int2* edges,
    const int* table, const int* table_starts, unsigned* turn,
    Stored* user_vectors, Stored* item_vectors, float rate, float keep, int* user_clock, int* item_clock,
    int* user_turn, int* item_turn,
    unsigned long long* applied) {
    DYNAMIC_SHARED(float, shared);
    // includes the dummies, so that one offset addresses either
    const int buffer = room * K + GROUPS * DUMMY_STRIDE * 4;
    Entry* ring = reinterpret_cast<Entry*>(shared + 2 * buffer);
    float* boxes = reinterpret_cast<float*>(ring + 64);
    Slot* slots = reinterpret_cast<Slot*>(boxes + THREADS / 32 * 64);
    int* slot_items = reinterpret_cast<int*>(slots + GROUPS * BATCH);
    float* items = reinterpret_cast<float*>(slot_items + (GROUPS * BATCH + 3) / 4 * 4);
    const int table_first = table_starts[blockIdx.x], table_size = table_starts[blockIdx.x + 1] - table_first;
    unsigned* lock = reinterpret_cast<unsigned*>(items + table_size * K);
    // Warp votes: make the conditions provably uniform.
    const bool mover = __any_sync(full_mask, block_thread() < 32);
    const bool chain = __all_sync(full_mask, alone[blockIdx.x] && block_thread() >= 32 && block_thread() < 64);
    const int here = mover ? 0 : (block_thread() - 32) / LANES, groups = THREADS / LANES;

    for (int k = block_thread(); k < room / 32 + 1; k += THREADS) lock[k] = 0;
    for (int k = block_thread(); k < GROUPS * DUMMY_STRIDE * 4; k += THREADS) {
        shared[room * K + k] = 0.0f;
        shared[buffer + room * K + k] = 0.0f;
    }
    for (int k = block_thread() / LANES; k < table_size; k += groups) {
        store_shared(items, k, load(item_vectors, table[table_first + k]));
    }
    // first slot of this group
    const int own = here / GROUPS_PER_WARP * GROUPS_PER_WARP * BATCH + here % GROUPS_PER_WARP;
    Group g{boxes + block_thread() / 32 * 64, lock, shared, items, slots + own, slot_items + own,
            room * (K / 4) + here * DUMMY_STRIDE, rate, keep};
    const int first = (int)((long)blockIdx.x * stride % rounds);                  // range of the first round
    const int* segment = starts + (long)blockIdx.x * rounds * GROUPS + (chain ? 0 : here);
    Mover moves{user_vectors, range_starts, turn, first, rounds, stride};
    int begin = 0, end = 0;   // of this group's edges in the next tile
    Stream stream{edges, ring};
    if (mover) {
        moves.fetch_range(shared, 0);
    } else {
        begin = segment[0];
        end = segment[1];
    }
    if (chain) stream.open(begin);
    for (int v = 0; v < rounds; ++v) {
        __syncthreads();      // the tile is loaded and the previous one computed
        if (mover) {
            float* other = shared + ((v + 1) & 1) * buffer;
            if (v > 0) moves.store_range(other, v - 1);
            if (v + 1 < rounds) moves.fetch_range(other, v + 1);
        } else {
            const int from = begin, to = end;
            if (v + 1 < rounds) {
                begin = segment[(v + 1) * GROUPS];
                end = segment[(v + 1) * GROUPS + 1];
            }
            g.users = shared + (v & 1) * buffer;
            const HistoryLog clocks{user_clock, item_clock, user_turn, item_turn,
            LOG ? range_starts[moves.range(v)] : 0,
                                table + table_first};
            if (chain) {
                if (v == 0) {
                    g.place = lane_id() < LANES ? 0 : -1;
                    g.item = load_shared(items, 0);
                }
                work_alone(g, stream, from, to, clocks);
            } else {
                work(g, edges, from, to, clocks);
            }
        }
    }
    if (!mover && g.place >= 0) store_shared(items, g.place, g.item);
    __syncthreads();
    if (mover) moves.store_range(shared + ((rounds - 1) & 1) * buffer, rounds - 1);
    for (int k = block_thread() / LANES; k < table_size; k += groups) {
        store(item_vectors, table[table_first + k], load_shared(items, k));
    }
    g.tally.report(applied);
}
