// Patches: the fastest serializable schedule here for graphs whose nodes all have few edges, such as roads.
//
// Idea. Without hubs there is no critical path to speak of; what counts is how often a vector travels. So the nodes
// of both sides are cut into patches that fit in shared memory (grown by breadth-first search, see patches.py).
// A block brings a patch, applies all edges that lie inside it, and writes it back: each vector is read and written
// once for the many edges inside. Inside a patch the edges are cut into matchings, with a barrier of the block
// between two. No two patches of a level share a node, so blocks need neither locks nor barriers.
// Edges between patches are left to the next level, with new patches that are grown over the edges that are left;
// a kernel call for each level, and each level has a small part of the edges of the one before.
// Several blocks on a multiprocessor hide one another's way to memory and back, and a block brings the lists of its
// next patch (nodes, edges) while it works on the present one, so that the vectors can be sent for at once.
//
// An edge is an int2: the user's place in its patch and, 16 bits up, the item's; then the bits of the rating.
// Nodes of a patch: users as they are, items as ~item. Edges are sorted by (level, patch, matching).
// References: Karypis and Kumar (SIAM J. Sci. Comput. 1998) for cutting graphs so that few edges cross; breadth-first
// growth is the simplest way to do so.
// compile: K=16 LANES=4 THREADS=512 RESIDENT=3
// compile: K=16 LANES=2 THREADS=256 RESIDENT=6
// compile: K=32 LANES=8 THREADS=512 RESIDENT=3
// compile: K=64 LANES=16 THREADS=512 RESIDENT=3
// compile: K=16 LANES=4 THREADS=512 RESIDENT=3 LOG=1
// compile: K=16 LANES=4 THREADS=512 RESIDENT=3 HALF=1
#include "update.cuh"

#ifndef THREADS
#define THREADS 512
#endif
#ifndef RESIDENT
#define RESIDENT 2
#endif
constexpr int GROUPS = THREADS / LANES;
constexpr int PIECES = K / 4;   // of 16 bytes in a vector

// Copies from global to shared memory without waiting for it, 4, 8 or 16 bytes; a batch of copies is closed, and all but
// the youngest batch, or all, are waited for.
template <class T> __device__ __forceinline__ void copy_ahead(T* to, const T* from) {
#ifdef LOCKSTEP_HOST
    *to = *from;
#else
    const unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if (sizeof(T) == 4) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(at), "l"(from) : "memory");
    if (sizeof(T) == 8) asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" :: "r"(at), "l"(from) : "memory");
    if (sizeof(T) == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(at), "l"(from) : "memory");
#endif
}
__device__ __forceinline__ void close_copies() {
#ifndef LOCKSTEP_HOST
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int YOUNGER> __device__ __forceinline__ void await_copies() {
#ifndef LOCKSTEP_HOST
    asm volatile("cp.async.wait_group %0;" :: "n"(YOUNGER) : "memory");
#endif
}

// Lists of a patch in shared memory: its edges, where its matchings begin, its nodes.
struct Lists {
    int2* edges;
    int* steps;
    int* nodes;
    __device__ __forceinline__ void bring(int4 patch, const int2* all_edges, int edge_room, const int* all_nodes,
                                          const int* patch_steps, int matchings) const {
        for (int k = block_thread(); k < patch.y; k += THREADS) copy_ahead(nodes + k, all_nodes + patch.x + k);
        if (patch.w <= edge_room) {
            for (int k = block_thread(); k < patch.w; k += THREADS) copy_ahead(edges + k, all_edges + patch.z + k);
        }
        for (int k = block_thread(); k <= matchings; k += THREADS) copy_ahead(steps + k, patch_steps + k);
    }
};

// patch_list: first node, nodes, first edge, edges of each patch. steps: `matchings` + 1 numbers a patch, where each of
// its matchings begins. Shared memory: room vectors, then twice the lists: edge_room edges (a patch with more reads them
// from global memory), matchings + 1 steps, room nodes.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT) patches(
    int first, int last, const int4* patch_list, const int* nodes, const int* steps, int matchings, const int2* edges,
    int room, int edge_room, Stored* user_vectors, Stored* item_vectors, float rate, float keep, int* user_clock,
    int* item_clock, int* user_turn, int* item_turn, unsigned long long* applied) {
    DYNAMIC_SHARED(float, vectors);
    float4* chunks = reinterpret_cast<float4*>(vectors);
    int2* lists = reinterpret_cast<int2*>(vectors + (long)room * K);
    int* rest = reinterpret_cast<int*>(lists + 2 * edge_room);
    Lists now{lists, rest, rest + 2 * (matchings + 1)};
    Lists next{lists + edge_room, rest + matchings + 1, now.nodes + room};
    const int4 nothing = make_int4(0, 0, 0, 0);
    Tally tally;

    int p = first + (int)blockIdx.x;
    int4 patch = p < last ? patch_list[p] : nothing;
    now.bring(patch, edges, edge_room, nodes, steps + (long)p * (matchings + 1), matchings * (p < last));
    close_copies();
    await_copies<0>();
    __syncthreads();
    for (; p < last; p += gridDim.x) {
        for (int k = block_thread(); k < patch.y * PIECES; k += THREADS) {
            const int node = now.nodes[k / PIECES];
            const Stored* from = (node < 0 ? item_vectors : user_vectors) + (long)(node < 0 ? ~node : node) * K;
#if HALF
            chunks[k] = load_chunk(from + 4 * (k % PIECES));
#else
            copy_ahead(chunks + k, reinterpret_cast<const float4*>(from) + k % PIECES);
#endif
        }
        close_copies();
        const int after = p + (int)gridDim.x;
        const int4 following = after < last ? patch_list[after] : nothing;   // waited for while the vectors travel
        if (after < last) {
            next.bring(following, edges, edge_room, nodes, steps + (long)after * (matchings + 1), matchings);
        }
        close_copies();
        await_copies<1>();
        __syncthreads();
        const bool fits = patch.w <= edge_room;
        for (int begin = 0, s = 0; begin < patch.w; ++s) {
            const int end = now.steps[s + 1];
            for (int e = begin + (int)(block_thread() / LANES); e < end; e += GROUPS) {
                const int2 edge = fits ? now.edges[e] : edges[patch.z + e];
                const int user_place = edge.x & 0xffff, item_place = (int)((unsigned)edge.x >> 16);
                Vector user = recall(vectors, user_place), item = recall(vectors, item_place);
                step(user, item, __int_as_float(edge.y), rate, keep, group());
                remember(vectors, user_place, user);
                remember(vectors, item_place, item);
                log_update(patch.z + e, now.nodes[user_place], ~now.nodes[item_place], user_clock, item_clock, user_turn,
                           item_turn);
                if (part() == 0) tally.add(patch.z + e);
            }
            __syncthreads();
            begin = end;
        }
        #pragma unroll 4
        for (int k = block_thread(); k < patch.y * PIECES; k += THREADS) {
            const int node = now.nodes[k / PIECES];
            Stored* to = (node < 0 ? item_vectors : user_vectors) + (long)(node < 0 ? ~node : node) * K;
            store_chunk(to + 4 * (k % PIECES), chunks[k]);
        }
        await_copies<0>();
        __syncthreads();
        const Lists done = now;
        now = next;
        next = done;
        patch = following;
    }
    tally.report(applied);
}
