// Patches: the fastest serializable schedule here for graphs whose nodes all have few edges, such as roads.
//
// Idea. Without hubs there is no critical path to speak of; what counts is how often a vector travels. So the nodes
// of both sides are cut into patches that fit in shared memory (grown by breadth-first search, see patches.py).
// A block brings a patch, applies all edges that lie inside it, and writes it back: each vector is read and written
// once for the many edges inside. Inside a patch the edges are cut into matchings, with a barrier of the block
// between two. No two patches of a level share a node, so blocks need neither locks nor barriers.
// Edges between patches are left to the next level, with new patches that are grown over the edges that are left;
// a kernel call for each level, and each level has a small part of the edges of the one before.
// Several blocks on a multiprocessor hide one another's way to memory and back.
//
// An edge is an int2: the user's place in its patch and, 16 bits up, the item's; then the bits of the rating.
// Nodes of a patch: users as they are, items as ~item. Edges are sorted by (level, patch, matching).
// References: Karypis and Kumar (SIAM J. Sci. Comput. 1998) for cutting graphs so that few edges cross; breadth-first
// growth is the simplest way to do so.
// compile: K=16 LANES=4 THREADS=256
// compile: K=32 LANES=8 THREADS=256
// compile: K=64 LANES=16 THREADS=256
// compile: K=16 LANES=4 THREADS=256 LOG=1
// compile: K=16 LANES=4 THREADS=256 HALF=1
#include "update.cuh"

#ifndef THREADS
#define THREADS 256
#endif
constexpr int GROUPS = THREADS / LANES;

// patch_list: first node, nodes, first edge, edges of each patch. steps: `matchings` + 1 numbers a patch, where each of
// its matchings begins. Shared memory: room vectors, then edge_room edges (a patch with more reads them from global
// memory).
extern "C" __global__ void __launch_bounds__(THREADS) patches(
    int first, int last, const int4* patch_list, const int* nodes, const int* steps, int matchings, const int2* edges,
    int room, int edge_room, Stored* user_vectors, Stored* item_vectors, float rate, float keep, int* user_clock,
    int* item_clock, int* user_turn, int* item_turn, unsigned long long* applied) {
    DYNAMIC_SHARED(float, vectors);
    int2* near = reinterpret_cast<int2*>(vectors + (long)room * K);
    float4* chunks = reinterpret_cast<float4*>(vectors);
    constexpr int PIECES = K / 4;
    Tally tally;
    for (int p = first + (int)blockIdx.x; p < last; p += gridDim.x) {
        const int4 patch = patch_list[p];
        const int* mine = nodes + patch.x;
        #pragma unroll 4
        for (int k = block_thread(); k < patch.y * PIECES; k += THREADS) {
            const int node = mine[k / PIECES];
            const Stored* from = node < 0 ? item_vectors + (long)~node * K : user_vectors + (long)node * K;
#if defined(LOCKSTEP_HOST) || HALF
            chunks[k] = load_chunk(from + 4 * (k % PIECES));
#else
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         :: "r"((unsigned)__cvta_generic_to_shared(chunks + k)), "l"(from + 4 * (k % PIECES))
                         : "memory");
#endif
        }
        const bool fits = patch.w <= edge_room;
        if (fits) {
            #pragma unroll 4
            for (int k = block_thread(); k < patch.w; k += THREADS) {
#ifdef LOCKSTEP_HOST
                near[k] = edges[patch.z + k];
#else
                asm volatile("cp.async.ca.shared.global [%0], [%1], 8;"
                             :: "r"((unsigned)__cvta_generic_to_shared(near + k)), "l"(edges + patch.z + k)
                             : "memory");
#endif
            }
        }
#ifndef LOCKSTEP_HOST
        asm volatile("cp.async.wait_all;" ::: "memory");
#endif
        __syncthreads();
        const int* step_starts = steps + (long)p * (matchings + 1);
        for (int s = 0; s < matchings; ++s) {
            const int end = step_starts[s + 1];
            for (int e = step_starts[s] + (int)(block_thread() / LANES); e < end; e += GROUPS) {
                const int2 edge = fits ? near[e] : edges[patch.z + e];
                const int user_place = edge.x & 0xffff, item_place = (int)((unsigned)edge.x >> 16);
                Vector user = recall(vectors, user_place), item = recall(vectors, item_place);
                step(user, item, __int_as_float(edge.y), rate, keep, group());
                remember(vectors, user_place, user);
                remember(vectors, item_place, item);
                log_update(patch.z + e, mine[user_place], ~mine[item_place], user_clock, item_clock, user_turn, item_turn);
                if (part() == 0) tally.add(patch.z + e);
            }
            __syncthreads();
            if (end == patch.w) break;
        }
        #pragma unroll 4
        for (int k = block_thread(); k < patch.y * PIECES; k += THREADS) {
            const int node = mine[k / PIECES];
            Stored* to = node < 0 ? item_vectors + (long)~node * K : user_vectors + (long)node * K;
            store_chunk(to + 4 * (k % PIECES), chunks[k]);
        }
        __syncthreads();
    }
    tally.report(applied);
}
