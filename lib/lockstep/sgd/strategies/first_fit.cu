// Maximal matchings by parallel first-fit.
//
// An edge goes into the first matching that holds neither of its ends. The edges' order matters, but any is valid: an
// edge skips a matching only if one of its ends is in it, for matchings never shrink. So each matching is maximal among
// the edges that the earlier ones left (Algorithm 1 of Kaleem et al., see online.cu).
//
// Idea. The thread that places an edge holds its user's lock, so the user's matchings cannot change. The item's
// edges are placed by threads of one block, which take a matching for the item by an atomic "or" on a bit set in shared
// memory; bits are never cleared, so no matching that was skipped becomes free again. Items of few edges belong to one
// thread each, which scans its earlier edges instead.
//
// A user's first matchings, twice as many as it has edges, are bits, words[] from word_offsets[u]: a user of many edges
// has nearly all of them there. Later ones (a user of few edges may have any number up to the degree of its items) lie
// in a hash table, table[] from table_offsets[u], -1 where empty; its size is 0 or a power of two, at least twice the
// user's edges. lows[u]: words before it are full.
// Reference: greedy edge coloring, a matching being a color: each edge has the smallest color free at both ends (a
// Grundy coloring), so each matching is maximal.
// compile:
#include "device.cuh"

// The matchings of a user, while its lock is held.
struct User {
    unsigned* words;
    int* table;
    int* low_at;
    int dense, mask, low;

    // Where the search for a matching begins in the table; unsigned, for the product passes 2^31 at 53,021.
    __device__ __forceinline__ int slot_of(int matching) const { return (int)((unsigned)matching * 40503u) & mask; }
    __device__ __forceinline__ bool listed(int matching) const {  // among those in the table
        for (int slot = slot_of(matching);; slot = (slot + 1) & mask) {
            const int there = __ldcg(table + slot);
            if (there < 0) return false;
            if (there == matching) return true;
        }
    }
    __device__ __forceinline__ unsigned word(int w) const { return w < dense ? __ldcg(words + w) : 0u; }
    __device__ __forceinline__ void add(int matching, unsigned present) {
        const int w = matching >> 5;
        if (w < dense) {
            present |= 1u << (matching & 31);
            __stcg(words + w, present);
            if (w == low && present == full_mask) __stcg(low_at, w + 1);
            return;
        }
        int slot = slot_of(matching);
        while (__ldcg(table + slot) >= 0) slot = (slot + 1) & mask;
        __stcg(table + slot, matching);
    }
};

__device__ __forceinline__ bool lock_user(User& user, int u, int* locks, const long* word_offsets, unsigned* words,
                                      int* lows, const long* table_offsets, int* table) {
    if (atomicCAS(locks + u, 0, 1)) return false;
    fence_gpu();
    const long word = word_offsets[u], slot = table_offsets[u];
    user.words = words + word;
    user.dense = (int)(word_offsets[u + 1] - word);
    user.table = table + slot;
    user.mask = (int)(table_offsets[u + 1] - slot) - 1;
    user.low_at = lows + u;
    user.low = __ldcg(lows + u);
    return true;
}
__device__ __forceinline__ void unlock_user(int u, int* locks) {
    fence_gpu();
    store_release(locks + u, 0);
}

// Items nodes[first] to nodes[last - 1], a block to an item; *ticket is 0. The edges of item i are offsets[i] <= e <
// offsets[i + 1], matchings[e] becomes the number of e's matching, *most the largest number plus one. `span`: more
// than the edges of any user. Shared memory: the item drawn, the first word that may have a free bit, and a bit for
// each of (edges of the item + span) matchings.
extern "C" __global__ void large_items(const int* nodes, int first, int last, int* ticket, const long* offsets,
                                       const int* users, int span, int* locks, const long* word_offsets,
                                       unsigned* words, int* lows, const long* table_offsets, int* table,
                                       int* matchings, int* most) {
    DYNAMIC_SHARED(unsigned, shared);
    unsigned* mine = shared + 2;
    const unsigned* present = mine;
    int largest = 0;
    for (;;) {
        __syncthreads();
        if (block_thread() == 0) {
            shared[0] = (unsigned)atomicAdd(ticket, 1);
            shared[1] = 0;
        }
        __syncthreads();
        const int place = first + (int)shared[0];
        if (place >= last) break;
        const long end = offsets[nodes[place] + 1];
        long e = offsets[nodes[place]] + block_thread();
        const int size = (int)((end - offsets[nodes[place]] + span) / 32) + 1;
        for (int w = (int)block_thread(); w < size; w += (int)blockDim.x) mine[w] = 0;
        __syncthreads();
        while (e < end) {
            const int u = users[e];
            User user;
            if (!lock_user(user, u, locks, word_offsets, words, lows, table_offsets, table)) {
                pause(100);
                continue;
            }
            const int low = (int)load_relaxed(shared + 1);
            int w = max(low, user.low), found = -1;
            while (found < 0) {
                const unsigned theirs = user.word(w);
                unsigned ours = load_relaxed(present + w);
                if (ours == full_mask && w == (int)load_relaxed(shared + 1)) store_relaxed(shared + 1, w + 1);
                unsigned open = ~(theirs | ours);
                while (open) {
                    const unsigned bit = open & (0u - open);
                    const int matching = 32 * w + __ffs((int)bit) - 1;
                    if (w >= user.dense && user.listed(matching)) {
                        open ^= bit;
                        continue;
                    }
                    ours = atomicOr(mine + w, bit);
                    if (ours & bit) {  // another edge of this item took it
                        open &= ~ours;
                        continue;
                    }
                    user.add(matching, theirs);
                    found = matching;
                    break;
                }
                ++w;
            }
            unlock_user(u, locks);
            matchings[e] = found;
            largest = max(largest, found + 1);
            e += blockDim.x;
        }
    }
    if (largest) atomicMax(most, largest);
}

// The same for items of few edges, a thread to an item.
extern "C" __global__ void small_items(const int* nodes, int first, int last, const long* offsets, const int* users,
                                       int* locks, const long* word_offsets, unsigned* words, int* lows,
                                       const long* table_offsets, int* table, int* matchings, int* most) {
    int largest = 0;
    for (int place = first + (int)global_thread(); place < last; place += (int)global_threads()) {
        const long begin = offsets[nodes[place]], end = offsets[nodes[place] + 1];
        long e = begin;
        while (e < end) {
            const int u = users[e];
            User user;
            if (!lock_user(user, u, locks, word_offsets, words, lows, table_offsets, table)) {
                pause(100);
                continue;
            }
            int w = user.low, found = -1;
            while (found < 0) {
                const unsigned theirs = user.word(w);
                if (theirs != full_mask) {
                    unsigned ours = 0;
                    for (long other = begin; other < e; ++other) {
                        const int matching = matchings[other];
                        if (matching >> 5 == w) ours |= 1u << (matching & 31);
                    }
                    unsigned open = ~(theirs | ours);
                    while (open) {
                        const unsigned bit = open & (0u - open);
                        const int matching = 32 * w + __ffs((int)bit) - 1;
                        if (w < user.dense || !user.listed(matching)) {
                            user.add(matching, theirs);
                            found = matching;
                            break;
                        }
                        open ^= bit;
                    }
                }
                ++w;
            }
            unlock_user(u, locks);
            matchings[e] = found;
            largest = max(largest, found + 1);
            ++e;
        }
    }
    if (largest) atomicMax(most, largest);
}
