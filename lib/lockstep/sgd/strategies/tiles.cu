// Tiles: the fastest serializable schedule here. A block owns its items for a whole sweep, in shared memory if they
// fit; ranges of users rotate over the blocks. A tile is the edges between the items of a block and a range of users.
//
// Idea. The item with most edges is the critical path of any serializable schedule: its updates form a chain, so
// latency bounds the time, not throughput.
//   - Every item belongs to one group of one block for the whole sweep: no lock, and its vector stays in registers
//     while its edges last. Blocks and groups get equal shares of the edges, the largest items first.
//   - Users are cut into `rounds` = blocks * stride ranges. In round r block b has range (b * stride + r) % rounds,
//     which block b - 1 has `stride` rounds later. There is no grid barrier: blocks_done[range] counts the blocks that
//     have finished their tile of the range, and waits[block][round] is the count at which the block may start its tile
//     (-1: a tile without edges, which is skipped and not counted).
//   - So two groups share a user only inside one block, and locks in shared memory suffice: a dependent atomic takes
//     19 ns there, 205 in L2 and 358 in HBM (H200, study 0). Each lane tries the locks of EACH edges. A lane that fails
//     retries with the next batch; no group blocks, so locks held for several batches cannot deadlock.
//   - Locking and fetching run STAGES - 1 batches ahead: the users' vectors are copied into shared memory
//     asynchronously while earlier batches are computed. The critical path keeps the dot product and the update.
//
// An edge is an int4: user, bits of the rating, item, item's place in the block's shared table (or -1 where the items
// of a block do not fit: then they stay in global memory). Edges are sorted by (block, round, group, item).
//
// References: DSGD (Gemulla et al., KDD 2011) and LIBMF (Chin et al., TIST 2015) for the grid of tiles; cuMF_SGD (Xie
// et al., HPDC 2017) for the lock-free kernel that this is compared with.
// compile: K=16 LANES=4 THREADS=256 STAGES=2 EACH=4
// compile: K=16 LANES=4 THREADS=512 STAGES=2,3 EACH=1
// compile: K=32 LANES=8 THREADS=256 STAGES=2 EACH=2
// compile: K=64 LANES=16 THREADS=256 STAGES=2 EACH=1
// compile: K=32 LANES=8 THREADS=256 STAGES=2 EACH=2 LOG=1
#include "update.cuh"

#ifndef THREADS
#define THREADS 256
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef EACH
#define EACH 1
#endif

constexpr int GROUPS = THREADS / LANES;   // of a block
constexpr int BATCH = EACH * LANES;       // edges a group has in one batch: EACH a lane
constexpr int SLOTS = STAGES * BATCH;     // of a group

// Copies a vector from global to shared memory: by cp.async, or synchronously with HALF, as cp.async cannot convert.
__device__ __forceinline__ void copy_async(float* to, const Stored* from) {
#if defined(LOCKSTEP_HOST) || HALF
    #pragma unroll
    for (int c = 0; c < K; c += 4) reinterpret_cast<float4*>(to)[c / 4] = load_chunk(from + c);
#else
    #pragma unroll
    for (int c = 0; c < K; c += 4) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"((unsigned)__cvta_generic_to_shared(to + c)), "l"(from + c) : "memory");
    }
#endif
}
// Stores this lane's part of a vector to global memory if `wanted`, with a predicate instead of a branch.
__device__ __forceinline__ void store_if(bool wanted, Stored* vectors, long node, const Vector& v) {
    Stored* at = vectors + node * K + 4 * lane_in_group();
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) {
#if defined(LOCKSTEP_HOST) || HALF
        if (wanted) store_chunk(at + 4 * LANES * c, v.chunk[c]);
#else
        asm volatile("{ .reg .pred p; setp.ne.b32 p, %5, 0; @p st.global.cg.v4.f32 [%0], {%1, %2, %3, %4}; }"
                     :: "l"(at + 4 * LANES * c), "f"(v.chunk[c].x), "f"(v.chunk[c].y), "f"(v.chunk[c].z),
                     "f"(v.chunk[c].w),
                        "r"((int)wanted));
#endif
    }
}
__device__ __forceinline__ void commit_batch() {
#ifndef LOCKSTEP_HOST
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_batch() {  // all but the STAGES - 1 youngest batches have arrived
#ifndef LOCKSTEP_HOST
    asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 1) : "memory");
#endif
}

// Locks are single bits: 16 KB of shared memory hold those of 131,072 users (users that share a bit exclude each
// other). Idle lanes issue a no-op atomic, avoiding divergence.
__device__ __forceinline__ bool try_lock_bit(unsigned* bits, int k, bool wanted) {
    if (LOCK_DELAY) delay_cycles(LOCK_DELAY);
    const unsigned bit = wanted ? 1u << (k & 31) : 0u;
    return !(atomicOr(bits + (k >> 5), bit) & bit) && wanted;
}
__device__ __forceinline__ void unlock_bit(unsigned* bits, int k, bool held) {
    atomicAnd(bits + (k >> 5), held ? ~(1u << (k & 31)) : ~0u);
}

// The items of one block: in shared memory if they fit, else in global memory.
struct ItemStore {
    float* resident;
    Stored* vectors;
    bool fits;
    int item = -1, place = 0;   // whose vector is in registers
    __device__ __forceinline__ void store_item(const Vector& v) {
        if (item < 0) return;
        if (fits) store_shared(resident, place, v);
        else store(vectors, item, v);
    }
    __device__ __forceinline__ Vector load_item(int4 edge) {
        item = edge.z;
        place = edge.w;
        return fits ? load_shared(resident, place) : load(vectors, item);
    }
};

// Group g of block b has the edges offsets[(b * rounds + round) * GROUPS + g] <= e < the next offset in that round, and
// the block the items table[table_offsets[b]] to table[table_offsets[b + 1] - 1]. `locks` is a power of two. Shared
// memory: the locks, then SLOTS vectors for each group, then SLOTS edges for each, then the block's items.
extern "C" __global__ void __launch_bounds__(THREADS) tiles(
    const int* offsets, const int* waits, int rounds, int stride, int locks, const int4* edges, const int* table,
    const int* table_offsets, int table_fits, unsigned* blocks_done, Stored* user_vectors, Stored* item_vectors,
    float rate, float decay, int* user_clock, int* item_clock, int* user_rank, int* item_rank,
    unsigned long long* applied) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int here = block_thread() / LANES, lane = lane_in_group();
    const unsigned lanes_before = (1u << lane_id()) - 1u;
    unsigned* lock = reinterpret_cast<unsigned*>(shared);
    float* vectors = reinterpret_cast<float*>(shared + locks / 8) + here * SLOTS * K;
    int4* slots = reinterpret_cast<int4*>(shared + locks / 8 + GROUPS * SLOTS * K * 4) + here * SLOTS;
    float* resident = reinterpret_cast<float*>(shared + locks / 8 + GROUPS * SLOTS * (K * 4 + 16));
    const int4 no_edge = make_int4(-1, 0, 0, 0);

    for (int k = block_thread(); k < locks / 32; k += THREADS) lock[k] = 0;
    for (int k = lane; k < SLOTS; k += LANES) slots[k] = no_edge;
    for (int k = 0; k < SLOTS; ++k) store_shared(vectors, k, Vector{});  // step() also runs on empty slots: no NaN
    const int table_first = table_offsets[blockIdx.x], table_size = table_offsets[blockIdx.x + 1] - table_first;
    if (table_fits) {
        for (int k = here; k < table_size; k += GROUPS) {
            store_shared(resident, k, load(item_vectors, table[table_first + k]));
        }
    }
    ItemStore home{resident, item_vectors, table_fits != 0};
    Vector item = {};
    Tally tally;

    for (int round = 0; round < rounds; ++round) {
        const int range = (int)((blockIdx.x * (long)stride + round) % rounds);
        const int before = waits[blockIdx.x * (long)rounds + round];   // blocks that must be done with the range
        if (before < 0) continue;                 // no edges in this tile
        if (block_thread() == 0) {
            while (load_acquire(blocks_done + range) != (unsigned)before) pause(100);
        }
        __syncthreads();

        const long at = ((long)blockIdx.x * rounds + round) * GROUPS + here;
        const int end = offsets[at + 1];
        int next = offsets[at];         // first edge that no lane has taken
        int left = end - next;         // edges not applied yet
        int4 edge[EACH];               // the edges that this lane locks next, and their numbers (-1: none)
        int id[EACH];
        int locked[STAGES][EACH];      // numbers of the edges whose user this lane has locked, by stage (-1: none)
        #pragma unroll
        for (int w = 0; w < EACH; ++w) {
            id[w] = next + lane < end ? next + lane : -1;
            edge[w] = id[w] < 0 ? no_edge : edges[id[w]];
            next = min(next + LANES, end);
            #pragma unroll
            for (int s = 0; s < STAGES; ++s) locked[s][w] = -1;
        }

        while (__any_sync(full_mask, left > 0)) {
            #pragma unroll
            for (int stage = 0; stage < STAGES; ++stage) {
                // (1) Every lane tries the locks of its edges and starts copying the users' vectors of those that it
                // gets: a whole vector a lane, so that one address serves all its pieces.
                bool won[EACH];
                #pragma unroll
                for (int w = 0; w < EACH; ++w) won[w] = try_lock_bit(lock, edge[w].x & (locks - 1), id[w] >= 0);
                fence_block();
                #pragma unroll
                for (int w = 0; w < EACH; ++w) {
                    const int slot = stage * BATCH + w * LANES + lane;
                    locked[stage][w] = won[w] ? id[w] : -1;
                    slots[slot] = won[w] ? edge[w] : no_edge;
                    if (won[w]) copy_async(vectors + slot * K, user_vectors + (long)edge[w].x * K);
                }
                commit_batch();
                // (2) Each lane replaces the edges that it locked by the group's next edges, which arrive during (4).
                #pragma unroll
                for (int w = 0; w < EACH; ++w) {
                    const bool free = won[w] || id[w] < 0;
                    const unsigned takers = __ballot_sync(full_mask, free) & group_mask();
                    if (free) {
                        const int take = next + __popc(takers & lanes_before);
                        id[w] = take < end ? take : -1;
                        if (take < end) edge[w] = edges[take];
                    }
                    next = min(next + __popc(takers), end);
                }
                // (3) Wait for the vectors of the oldest batch.
                const int old = (stage + 1) % STAGES;
                wait_batch();
                __syncwarp();
                int who[BATCH];
                float rated[BATCH];
                Vector user[BATCH];
                bool same_item = true;      // all edges of the batch belong to the item in registers
                #pragma unroll
                for (int j = 0; j < BATCH; ++j) {
                    const int4 now = slots[old * BATCH + j];
                    who[j] = now.x;
                    rated[j] = __int_as_float(now.y);
                    user[j] = load_shared(vectors, old * BATCH + j);
                    same_item = same_item && (now.x < 0 || now.z == home.item);
                    left -= now.x >= 0;
                }
                same_item = __all_sync(full_mask, same_item);
                // (4) The critical path: one update after the other, in registers alone. A slot without an edge is
                // updated with rate 0 and decay 1: the item stays as it is, without a branch. Stores come after the
                // loop: a store in flight occupies its source registers, and the next update would wait for them.
                if (same_item) {
                    #pragma unroll
                    for (int j = 0; j < BATCH; ++j) {
                        const bool live = who[j] >= 0;
                        step(user[j], item, rated[j], live ? rate : 0.0f, live ? decay : 1.0f, full_mask);
                    }
                } else {
                    #pragma unroll
                    for (int j = 0; j < BATCH; ++j) {
                        const bool live = who[j] >= 0;
                        const int4 now = slots[old * BATCH + j];
                        if (live && now.z != home.item) {
                            home.store_item(item);
                            item = home.load_item(now);
                        }
                        __syncwarp();
                        step(user[j], item, rated[j], live ? rate : 0.0f, live ? decay : 1.0f, full_mask);
                    }
                }
                #pragma unroll
                for (int j = 0; j < BATCH; ++j) {
                    store_if(who[j] >= 0, user_vectors, who[j], user[j]);
#if LOG
                    const int e = __shfl_sync(full_mask, locked[old][j / LANES], j % LANES, LANES);
                    const int rated_item = slots[old * BATCH + j].z;
                    if (who[j] >= 0) log_update(e, who[j], rated_item, user_clock, item_clock, user_rank, item_rank);
#endif
                }
                // (5) Each lane releases the locks of its edges of that batch.
                __syncwarp();
                fence_block();
                #pragma unroll
                for (int w = 0; w < EACH; ++w) {
                    int4* slot = slots + old * BATCH + w * LANES + lane;
                    const bool held = locked[old][w] >= 0;
                    unlock_bit(lock, slot->x & (locks - 1), held);
                    slot->x = -1;
                    if (held) tally.add(locked[old][w]);
                    locked[old][w] = -1;
                }
                __syncwarp();
            }
        }
        __syncthreads();
        if (block_thread() == 0) {
            fence_gpu();
            store_release(blocks_done + range, (unsigned)before + 1u);
        }
    }
    home.store_item(item);
    __syncthreads();
    if (table_fits) {
        for (int k = here; k < table_size; k += GROUPS) {
            store(item_vectors, table[table_first + k], load_shared(resident, k));
        }
    }
    tally.report(applied);
}
