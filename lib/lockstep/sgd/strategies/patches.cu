// Patches: the fastest serializable schedule here for graphs whose nodes all have few edges, such as roads.
//
// Idea. Without hubs the critical path is short; the traffic of vectors between global and shared memory bounds the
// time. So the nodes of both sides are cut into patches that fit in shared memory (grown by breadth-first search, see
// patches.py). A block loads a patch, applies all edges inside it, and writes it back: each vector is read and written
// once for the many edges inside. Vectors lie in memory in the order of the patches, users and items in one array, so a
// patch is contiguous. Inside a patch the edges are cut into matchings, separated by block barriers. No two patches of
// a level share a node, so blocks need no locks.
// Edges between patches are left to the next level, whose patches are grown over the remaining edges and whose vectors
// are gathered. One launch runs all levels, without a barrier between them: patches form one sequence, level after
// level, and one of a later level waits until the last one that shares a node with it, and all before that one, are
// done. A free block draws the next number of the sequence, so a waiting block waits only for running blocks: the
// blocks need not all be co-resident.
// The RESIDENT blocks of a multiprocessor hide one another's memory latency, and a block prefetches the lists of its
// next patch (rows, edges) while it processes the present one, so that the copies of the vectors can start at once.
//
// An edge is an int2: the places of user (low 16 bits) and item (high) in the patch; the bits of the rating.
// Edges are sorted by (level, patch, matching).
// References: Karypis and Kumar (SIAM J. Sci. Comput. 1998) for cutting graphs so that few edges cross; breadth-first
// growth is the simplest way to do so.
// compile: K=16 LANES=4 THREADS=512 RESIDENT=2
// compile: K=16 LANES=2 THREADS=256 RESIDENT=4
// compile: K=32 LANES=8 THREADS=512 RESIDENT=2
// compile: K=64 LANES=16 THREADS=512 RESIDENT=2
// compile: K=16 LANES=4 THREADS=512 RESIDENT=2 LOG=1
// compile: K=16 LANES=4 THREADS=512 RESIDENT=2 HALF=1
#include "update.cuh"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef RESIDENT
#define RESIDENT 2
#endif
constexpr int GROUPS = THREADS / LANES;
constexpr int PIECES = K / 4;   // of 16 bytes in a vector

// Asynchronous copies from global to shared memory, 4, 8 or 16 bytes; commit_copies ends a batch, wait_copies waits for
// all but the YOUNGER youngest.
template <class T> __device__ __forceinline__ void copy_async(T* to, const T* from) {
#ifdef LOCKSTEP_HOST
    *to = *from;
#else
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if (sizeof(T) == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(from) : "memory");
    if (sizeof(T) == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(at), "l"(from) : "memory");
    if (sizeof(T) == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
#endif
}
__device__ __forceinline__ void commit_copies() {
#ifndef LOCKSTEP_HOST
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int YOUNGER> __device__ __forceinline__ void wait_copies() {
#ifndef LOCKSTEP_HOST
    asm volatile("cp.async.wait_group %0;" :: "n"(YOUNGER) : "memory");
#endif
}

// Lists of a patch in shared memory: where its matchings begin, its rows, its edges if there is room for them.
struct Lists {
    int* steps;
    int2* words;          // `room` words of 8 bytes (list_room): the rows if the patch lists them, then the edges
    int room;
    __device__ __forceinline__ int* rows() const { return reinterpret_cast<int*>(words); }
    __device__ __forceinline__ int row(int4 p, int place) const { return p.x < 0 ? rows()[place] : p.x + place; }
    __device__ __forceinline__ int first(int4 p) const { return p.x < 0 ? (p.y + 1) / 2 : 0; }
    __device__ __forceinline__ bool fits(int4 p) const { return first(p) + p.w <= room; }
    __device__ __forceinline__ void prefetch(int4 p, const int2* all_edges, const int* all_rows, const int* from_steps,
                                          int matchings) const {
        if (p.x < 0) {
            for (int k = block_thread(); k < p.y; k += THREADS) copy_async(rows() + k, all_rows + ~p.x + k);
        }
        if (fits(p)) {
            int2* to = words + first(p);
            for (int k = block_thread(); k < p.w; k += THREADS) copy_async(to + k, all_edges + p.z + k);
        }
        for (int k = block_thread(); k <= matchings; k += THREADS) copy_async(steps + k, from_steps + k);
    }
};

constexpr int NO_PATCH = 0x7fffffff;

// Words shared by all blocks, 0 between two launches: number and checksum of the edges applied (adjacent: see Tally),
// patches drawn, blocks that have ended.
struct Common {
    unsigned long long count, sum;
    int drawn, ended;
};

// patch_list, for each patch: first row of its vectors, nodes, first edge, edges. Patches of the first level have
// contiguous vectors; the others list their rows in list_rows, from ~x on. steps: `matchings` + 1 numbers a patch,
// where each of its matchings begins, counted from its first edge. after[p]: how many patches have to be done before
// patch p. at[b]: block b has finished all patches below this number that it has drawn; NO_PATCH between two launches.
// Shared memory: room vectors, then twice the lists: list_room times 8 bytes for rows and edges (a patch whose edges do
// not fit reads them from global memory), matchings + 1 steps; the number drawn. user_clock, item_clock: see LOG in
// update.cuh; by row.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) patches(
    int patches_in_all, const int4* patch_list, const int* after, int* at, Common* all, const int* list_rows,
    const int* steps, int matchings, const int2* edges, int room, int list_room, Stored* all_vectors, float rate,
    float decay, int* user_clock, int* item_clock, int* user_rank, int* item_rank, unsigned long long* applied) {
    DYNAMIC_SHARED(float, vectors);
    float4* chunks = reinterpret_cast<float4*>(vectors);
    int2* lists = reinterpret_cast<int2*>(vectors + (long)room * K);
    int* rest = reinterpret_cast<int*>(lists + 2 * list_room);
    Lists now{rest, lists, list_room}, next{rest + matchings + 1, lists + list_room, list_room};
    int* drawn = rest + 2 * (matchings + 1);
    Tally tally;

    if (block_thread() == 0) {
        store_relaxed(at + blockIdx.x, 0);   // visible to every block that draws later
        fence_gpu();
        *drawn = atomicAdd(&all->drawn, 1);
        fence_gpu();   // and the `at` of earlier draws is visible to this block from here on
        store_relaxed(at + blockIdx.x, *drawn < patches_in_all ? *drawn : NO_PATCH);
    }
    __syncthreads();
    int p = *drawn;
    int4 patch = p < patches_in_all ? patch_list[p] : make_int4(0, 0, 0, 0);
    if (p < patches_in_all) now.prefetch(patch, edges, list_rows, steps + (long)p * (matchings + 1), matchings);
    commit_copies();
    while (p < patches_in_all) {
        if (patch.x < 0) {
            const int others = after[p];
            for (int b = block_thread(); b < (int)gridDim.x; b += THREADS) {
                while (load_acquire(at + b) < others) pause(100);
            }
            wait_copies<0>();
        }
        __syncthreads();
        for (int k = block_thread(); k < patch.y * PIECES; k += THREADS) {
            const Stored* from = all_vectors + (long)now.row(patch, k / PIECES) * K + 4 * (k % PIECES);
#if HALF
            chunks[k] = load_chunk(from);
#else
            copy_async(chunks + k, reinterpret_cast<const float4*>(from));
#endif
        }
        commit_copies();
        if (block_thread() == 0) {
            *drawn = atomicAdd(&all->drawn, 1);
            fence_gpu();
        }
        __syncthreads();
        const int q = *drawn;   // prefetch the next patch's lists while these vectors are in flight
        const int4 following = q < patches_in_all ? patch_list[q] : make_int4(0, 0, 0, 0);
        if (q < patches_in_all)
            next.prefetch(following, edges, list_rows, steps + (long)q * (matchings + 1), matchings);
        commit_copies();
        wait_copies<1>();
        __syncthreads();
        const int2* mine = now.fits(patch) ? now.words + now.first(patch) : edges + patch.z;
        for (int begin = 0, s = 0; begin < patch.w; ++s) {
            const int end = now.steps[s + 1];
            for (int e = begin + (int)(block_thread() / LANES); e < end; e += GROUPS) {
                const int2 edge = mine[e];
                const int user_place = edge.x & 0xffff, item_place = (int)((unsigned)edge.x >> 16);
                Vector user = load_shared(vectors, user_place), item = load_shared(vectors, item_place);
                step(user, item, __int_as_float(edge.y), rate, decay, group_mask());
                store_shared(vectors, user_place, user);
                store_shared(vectors, item_place, item);
                log_update(patch.z + e, now.row(patch, user_place), now.row(patch, item_place), user_clock, item_clock,
                           user_rank, item_rank);
                if (lane_in_group() == 0) tally.add(patch.z + e);
            }
            __syncthreads();
            begin = end;
        }
        #pragma unroll 4
        for (int k = block_thread(); k < patch.y * PIECES; k += THREADS) {
            store_chunk(all_vectors + (long)now.row(patch, k / PIECES) * K + 4 * (k % PIECES), chunks[k]);
        }
        __syncthreads();
        if (block_thread() == 0) store_release(at + blockIdx.x, q < patches_in_all ? q : NO_PATCH);
        const Lists done = now;
        now = next;
        next = done;
        patch = following;
        p = q;
    }
    tally.report(&all->count);
    __syncthreads();
    if (block_thread() == 0) {
        fence_gpu();
        if (atomicAdd(&all->ended, 1) == (int)gridDim.x - 1) {   // the last block to end
            fence_gpu();
            applied[0] = atomicExch(&all->count, 0ull);
            applied[1] = atomicExch(&all->sum, 0ull);
            store_relaxed(&all->drawn, 0);
            store_relaxed(&all->ended, 0);
        }
    }
}
