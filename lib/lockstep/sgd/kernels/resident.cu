// Resident tiles: the form that tiles take where they are dense. Both sides of a tile are in shared memory.
//
// Idea. As in tiles.cu, a block owns items for a whole sweep and ranges of users go round, handed on by `turn`. Where
// a tile holds about as many edges as its range holds users, it pays to bring the whole range:
//   - The range of the next tile is fetched, and that of the previous one written back, by a warp of their own
//     (the movers), while the other warps work on the present tile. So the warps that compute never touch
//     global memory but for the edges, read in order, one batch ahead.
//   - What is left between two updates of the largest item is its arithmetic: a dot product, two multiply-adds. A
//     warp that works alone issues hardly more than an instruction every other cycle, so four features a lane are
//     best: fewer lanes save shuffles, but double the instructions.
//   - Few warps: what counts is the group of the largest item, and the others' locks are in its way.
// A group with many edges works in deep batches: it tries the locks of the next batch before it computes the
// present one, so that nothing waits for an atomic. The others lock, compute and unlock. Locking, loading and storing a
// batch takes as long as a third of its updates; so the largest item of a block, if it is much larger than the rest,
// is shared by two warps, of which one computes while the other does all that: see work_hub.
//
// racecheck knows no locks: it reports the users' vectors where several warps exchange them under theirs, and is
// silent with one working warp (threads=64). What shows that the locks hold are the logged runs.
//
// An edge is an int2: the user's place in its range and, 16 bits up, the item's place in the block's table; then
// the bits of the rating. Edges are sorted by (block, range, group, item).
// References: as in tiles.cu.
// compile: K=16 LANES=4 THREADS=160 EACH=4
// compile: K=32 LANES=8 THREADS=160 EACH=2
// compile: K=64 LANES=8 THREADS=160 EACH=1
// compile: K=32 LANES=8 THREADS=160 EACH=2 LOG=1
// compile: K=32 LANES=8 THREADS=160 EACH=2 HALF=1
#include "update.cuh"

#ifndef THREADS
#define THREADS 160
#endif
#ifndef EACH
#define EACH 2
#endif

// The first warp moves the users. The next one, with the largest item, then has a scheduler of its own in a block of five
// warps: warps go to the four schedulers in turn.
constexpr int GROUPS = (THREADS - 32) / LANES;
constexpr int MOST = EACH * LANES;                // edges in a deep batch
constexpr int NEIGHBOURS = 32 / LANES;            // groups of a warp; their slots lie side by side: no bank conflicts
constexpr int DUMMY = K / 4 + (LANES < 8 ? LANES : 0);   // pieces from one group's dummy to the next: other banks

// Locks are single bits of shared memory. Who wants nothing sets or clears no bit: cheaper than a branch. `ask` gives the
// word as it was before; asking and looking at the answer are apart, so that nobody waits for the atomic.
__device__ __forceinline__ unsigned lock_bit(int k, bool wanted) { return wanted ? 1u << (k & 31) : 0u; }
__device__ __forceinline__ unsigned ask(unsigned* bits, int k, bool wanted) {
    if (LOCK_DELAY) wait_cycles(LOCK_DELAY);
    return atomicOr(bits + (k >> 5), lock_bit(k, wanted));
}
__device__ __forceinline__ bool granted(unsigned answer, int k, bool wanted) {
    return wanted & !(answer & lock_bit(k, wanted));
}
__device__ __forceinline__ void give(unsigned* bits, int k, bool held) {
    atomicAnd(bits + (k >> 5), ~lock_bit(k, held));
}

// A slot of a batch: what one update needs but the vectors. An empty slot has rate 0, keep 1 and the group's own dummy
// user, so that it is computed like any other and changes nothing.
struct __align__(16) Slot {
    int at;               // of the user's vector in the buffer, in 16-byte pieces
    float scaled;         // rate * rating
    float rate, keep;
};

// What a group works with.
struct Group {
    unsigned* lock;
    float* users;         // of the present tile
    float* items;         // of the block
    Slot* slots;
    int* slot_items;      // the place of each slot's item
    int dummy;            // where the group's dummy user is, as in a slot
    float rate, keep;
    int place = -1;       // of the item in registers
    Vector item = {};
    Tally tally;

    __device__ __forceinline__ void fill(int slot, int2 edge, bool live) {
        slots[slot * NEIGHBOURS] = {live ? (edge.x & 0xffff) * (K / 4) : dummy, live ? __fmul_rn(rate, __int_as_float(edge.y)) : 0.0f,
                       live ? rate : 0.0f, live ? keep : 1.0f};
        slot_items[slot * NEIGHBOURS] = live ? edge.x >> 16 : -1;
    }
};

__device__ __forceinline__ Vector recall_at(const float* users, int at) {
    Vector v;
    const float4* from = reinterpret_cast<const float4*>(users) + part() + at;
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) v.chunk[c] = from[LANES * c];
    return v;
}
__device__ __forceinline__ void remember_at(float* users, int at, const Vector& v) {
    float4* to = reinterpret_cast<float4*>(users) + part() + at;
    #pragma unroll
    for (int c = 0; c < CHUNKS; ++c) to[LANES * c] = v.chunk[c];
}

// Applies the edges in the first SIZE slots, one after the other. `stay`: all of them belong to the item in registers.
template <int SIZE> __device__ __forceinline__ void apply(Group& g, bool stay) {
    if (stay) {
        Slot now[SIZE];
        Vector user[SIZE];
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) now[j] = g.slots[j * NEIGHBOURS];
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) user[j] = recall_at(g.users, now[j].at);
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) step_scaled(user[j], g.item, now[j].scaled, now[j].rate, now[j].keep, full_mask);
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) remember_at(g.users, now[j].at, user[j]);
    } else {
        #pragma unroll 1
        for (int j = 0; j < SIZE; ++j) {
            const Slot slot = g.slots[j * NEIGHBOURS];
            const int place = g.slot_items[j * NEIGHBOURS];
            if (place >= 0 && place != g.place) {
                if (g.place >= 0) remember(g.items, g.place, g.item);
                g.place = place;
                g.item = recall(g.items, place);
            }
            __syncwarp();
            Vector user = recall_at(g.users, slot.at);
            step_scaled(user, g.item, slot.scaled, slot.rate, slot.keep, full_mask);
            remember_at(g.users, slot.at, user);
        }
    }
}

// What a lane wants to lock next (numbers `id`, -1: nothing), and takes after that: every LANES * EDGES-th edge. Edges
// are read whether they are needed or not, which is cheaper than a branch.
template <int EDGES> struct Wanted {
    int id[EDGES];
    int2 edge[EDGES];
    __device__ __forceinline__ void set(int w, const int2* edges, int next, int end) {
        id[w] = next < end ? next : -1;
        edge[w] = edges[max(id[w], 0)];
    }
    __device__ __forceinline__ void open(const int2* edges, int begin, int end) {
        #pragma unroll
        for (int w = 0; w < EDGES; ++w) set(w, edges, begin + w * LANES + part(), end);
    }
    __device__ __forceinline__ void move_on(int w, const int2* edges, int end, bool won) {
        set(w, edges, id[w] < 0 ? end : won ? id[w] + EDGES * LANES : id[w], end);
    }
    __device__ __forceinline__ bool some() const {
        bool any = false;
        #pragma unroll
        for (int w = 0; w < EDGES; ++w) any = any | (id[w] >= 0);
        return any;
    }
};

struct Clocks {           // where histories are logged: see update.cuh
    int *user, *item, *user_turn, *item_turn;
    int first_user;
    const int* table;
};

// Logs a batch: `id` and `node` of this lane's slot w, in the order in which `apply` went through them.
template <int EDGES> __device__ __forceinline__ void log_batch(const Clocks& c, const int* id, const int* node) {
#if LOG
    #pragma unroll 1
    for (int j = 0; j < EDGES * LANES; ++j) {
        for (int w = 0; w < EDGES; ++w) {
            if (w == j / LANES && part() == j % LANES && id[w] >= 0) {
                const int u = c.first_user + (node[w] & 0xffff), i = c.table[node[w] >> 16];
                const int user_at = __ldcg(c.user + u), item_at = __ldcg(c.item + i);
                c.user_turn[id[w]] = user_at;
                c.item_turn[id[w]] = item_at;
                __stcg(c.user + u, user_at + 1);
                __stcg(c.item + i, item_at + 1);
            }
        }
        order_memory();
        __syncwarp();
    }
#endif
}

// Deep batches: the locks of the next are tried before the present one is computed.
template <int EDGES> __device__ __forceinline__ void work_deep(Group& g, const int2* edges, int begin, int end,
                                                               const Clocks& clocks) {
    Wanted<EDGES> wanted;
    wanted.open(edges, begin, end);
    int ready[EDGES], node[EDGES];
    #pragma unroll
    for (int w = 0; w < EDGES; ++w) ready[w] = -1, node[w] = 0;
    bool any = false, stay = false;   // somebody of the warp has an edge in the present batch; for all of the same item
    while (any || __any_sync(full_mask, wanted.some())) {
        unsigned answer[EDGES];
        #pragma unroll
        for (int w = 0; w < EDGES; ++w) answer[w] = ask(g.lock, wanted.edge[w].x & 0xffff, wanted.id[w] >= 0);
        if (any) {
            apply<EDGES * LANES>(g, stay);
            log_batch<EDGES>(clocks, ready, node);
        }
        // One fence for both sides: what was written under the present locks is seen by who gets them next, and what
        // is read under the new ones was written before they were given.
        __syncwarp();
        order_in_block();
        bool mine = false, same = true;
        #pragma unroll
        for (int w = 0; w < EDGES; ++w) {
            give(g.lock, node[w] & 0xffff, ready[w] >= 0);
            if (ready[w] >= 0) g.tally.add(ready[w]);
            const bool won = granted(answer[w], wanted.edge[w].x & 0xffff, wanted.id[w] >= 0);
            ready[w] = won ? wanted.id[w] : -1;
            node[w] = wanted.edge[w].x;
            g.fill(w * LANES + part(), wanted.edge[w], won);
            mine = mine | won;
            same = same & (!won | (node[w] >> 16 == g.place));
            wanted.move_on(w, edges, end, won);
        }
        any = __any_sync(full_mask, mine);
        stay = __all_sync(full_mask, same);
        __syncwarp();
    }
}

// Lock, compute, unlock: an edge a lane.
__device__ __forceinline__ void work(Group& g, const int2* edges, int begin, int end, const Clocks& clocks) {
    Wanted<1> wanted;
    wanted.open(edges, begin, end);
    while (__any_sync(full_mask, wanted.some())) {
        const int id[1] = {wanted.id[0]}, node[1] = {wanted.edge[0].x};
        const bool won = granted(ask(g.lock, node[0] & 0xffff, id[0] >= 0), node[0] & 0xffff, id[0] >= 0);
        if (!__any_sync(full_mask, won)) continue;
        order_in_block();
        g.fill(part(), wanted.edge[0], won);
        const bool stay = __all_sync(full_mask, !won | (node[0] >> 16 == g.place));
        wanted.move_on(0, edges, end, won);
        __syncwarp();
        apply<LANES>(g, stay);
        const int applied[1] = {won ? id[0] : -1};
        log_batch<1>(clocks, applied, node);
        __syncwarp();
        order_in_block();
        give(g.lock, node[0] & 0xffff, won);
        if (won) g.tally.add(id[0]);
    }
}

// A hub's edges, by two warps that take turns with its vector: while one computes a batch, the other locks and loads the
// next one. `hub` is the lock of the vector, `place` where it lies; whoever holds it waits for nothing.
template <int EDGES> __device__ __forceinline__ void work_hub(Group& g, const int2* edges, int begin, int end,
                                                              const Clocks& clocks, unsigned* hub, int place) {
    constexpr int SIZE = EDGES * LANES;
    const bool owner = begin < end;       // one group of the warp has the hub's edges, the others look on
    Wanted<EDGES> wanted;
    wanted.open(edges, begin, end);
    while (__any_sync(full_mask, wanted.some())) {
        unsigned answer[EDGES];
        #pragma unroll
        for (int w = 0; w < EDGES; ++w) answer[w] = ask(g.lock, wanted.edge[w].x & 0xffff, wanted.id[w] >= 0);
        order_in_block();
        bool mine = false;
        int ready[EDGES], node[EDGES];
        #pragma unroll
        for (int w = 0; w < EDGES; ++w) {
            const bool won = granted(answer[w], wanted.edge[w].x & 0xffff, wanted.id[w] >= 0);
            ready[w] = won ? wanted.id[w] : -1;
            node[w] = wanted.edge[w].x;
            g.fill(w * LANES + part(), wanted.edge[w], won);
            mine = mine | won;
            wanted.move_on(w, edges, end, won);
        }
        if (!__any_sync(full_mask, mine)) continue;
        __syncwarp();
        Slot now[SIZE];
        Vector user[SIZE];
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) now[j] = g.slots[j * NEIGHBOURS];
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) user[j] = recall_at(g.users, now[j].at);
        if (lane_id() == 0) {
            while (atomicExch(hub, 1u)) {}
        }
        __syncwarp();
        order_in_block();
        Vector item = recall(g.items, place);
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) step_scaled(user[j], item, now[j].scaled, now[j].rate, now[j].keep, full_mask);
        if (owner) remember(g.items, place, item);
        log_batch<EDGES>(clocks, ready, node);
        __syncwarp();
        order_in_block();
        if (lane_id() == 0) atomicExch(hub, 0u);
        #pragma unroll
        for (int j = 0; j < SIZE; ++j) remember_at(g.users, now[j].at, user[j]);
        __syncwarp();
        order_in_block();
        #pragma unroll
        for (int w = 0; w < EDGES; ++w) {
            give(g.lock, node[w] & 0xffff, ready[w] >= 0);
            if (ready[w] >= 0) g.tally.add(ready[w]);
        }
    }
}

// The movers' two jobs, by one warp; `count` vectors from `first` on. A lane writes and reads the same places of the
// shared buffer in both, so that it need not wait for the others in between.
__device__ __forceinline__ void bring(float* buffer, const Stored* vectors, int first, int count) {
    const Stored* from = vectors + (long)first * K;
#if defined(LOCKSTEP_HOST) || HALF
    #pragma unroll 8
    for (int k = lane_id(); k < count * (K / 4); k += 32) {
        reinterpret_cast<float4*>(buffer)[k] = load_chunk(from + 4 * (long)k);
    }
#else
    #pragma unroll 4
    for (int k = lane_id(); k < count * (K / 4); k += 32) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :: "r"((unsigned)__cvta_generic_to_shared(buffer + 4 * k)), "l"(from + 4 * (long)k) : "memory");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
__device__ __forceinline__ void put_back(const float* buffer, Stored* vectors, int first, int count) {
    Stored* to = vectors + (long)first * K;
    #pragma unroll 8
    for (int k = lane_id(); k < count * (K / 4); k += 32) {
        store_chunk(to + 4 * (long)k, reinterpret_cast<const float4*>(buffer)[k]);
    }
}
__device__ __forceinline__ void await_turn(const unsigned* turn, int before) {
    if (lane_id() == 0) {
        while (load_acquire(turn) != (unsigned)before) pause(50);
    }
    __syncwarp();
}

// visits: (range, blocks that come before, first segment) of each tile of a block, in order; block b has those from
// visit_starts[b]. range_starts: the first user of each range, at most `room` of them. A warp works in deep batches
// where one of its groups has `deep` edges or more in a tile. hubs: the place of a block's item that the first two of the
// working warps share, -1: none.
// Shared memory: two buffers of room vectors, a dummy vector for each group, the slots and their
// items, the items, the locks.
extern "C" __global__ void __launch_bounds__(THREADS, 1) resident(
    const int4* visits, const int* visit_starts, const int* starts, const int* range_starts, int room,
    int deep, const int* hubs, const int2* edges, const int* table, const int* table_starts, unsigned* turn, Stored* user_vectors,
    Stored* item_vectors, float rate, float keep, int* user_clock, int* item_clock, int* user_turn, int* item_turn,
    unsigned long long* applied) {
    DYNAMIC_SHARED(float, shared);
    // A buffer is followed by the groups' dummies, so that a place finds either.
    const int stride = room * K + GROUPS * DUMMY * 4;
    Slot* slots = reinterpret_cast<Slot*>(shared + 2 * stride);
    int* slot_items = reinterpret_cast<int*>(slots + GROUPS * MOST);
    float* items = reinterpret_cast<float*>(slot_items + GROUPS * MOST);
    const int table_first = table_starts[blockIdx.x], table_size = table_starts[blockIdx.x + 1] - table_first;
    unsigned* lock = reinterpret_cast<unsigned*>(items + table_size * K);   // the last word is the hub's
    unsigned* hub_lock = lock + room / 32 + 1;
    const int hub = hubs[blockIdx.x];
    const bool shares = __all_sync(full_mask, hub >= 0 && block_thread() >= 32 && block_thread() < 96);
    const bool mover = __any_sync(full_mask, block_thread() < 32);   // a vote: the compiler sees that a warp agrees
    const int here = mover ? 0 : (block_thread() - 32) / LANES, groups = THREADS / LANES;

    for (int k = block_thread(); k < room / 32 + 2; k += THREADS) lock[k] = 0;
    for (int k = block_thread(); k < GROUPS * DUMMY * 4; k += THREADS) {
        shared[room * K + k] = 0.0f;
        shared[stride + room * K + k] = 0.0f;
    }
    for (int k = block_thread() / LANES; k < table_size; k += groups) {
        remember(items, k, load(item_vectors, table[table_first + k]));
    }
    const int own = here / NEIGHBOURS * NEIGHBOURS * MOST + here % NEIGHBOURS;   // first slot of this group
    Group g{lock, shared, items, slots + own, slot_items + own, room * (K / 4) + here * DUMMY, rate, keep};
    const int first = visit_starts[blockIdx.x], last = visit_starts[blockIdx.x + 1];
    if (mover && first < last) {
        const int4 visit = visits[first];
        await_turn(turn + visit.x, visit.y);
        bring(shared, user_vectors, range_starts[visit.x], range_starts[visit.x + 1] - range_starts[visit.x]);
    }
    int begin = 0, end = 0;   // of this group's segment in the next tile
    if (!mover && first < last) {
        begin = starts[visits[first].z + here];
        end = starts[visits[first].z + here + 1];
    }
    for (int v = first; v < last; ++v) {
        __syncthreads();      // the tile is here, and the previous one has been computed
        if (mover) {
            float* other = shared + ((v - first + 1) & 1) * stride;
            if (v > first) {
                const int4 done = visits[v - 1];
                put_back(other, user_vectors, range_starts[done.x], range_starts[done.x + 1] - range_starts[done.x]);
                __syncwarp();
                if (lane_id() == 0) {
                    order_memory();
                    store_release(turn + done.x, (unsigned)done.y + 1u);
                }
            }
            if (v + 1 < last) {
                const int4 next = visits[v + 1];
                await_turn(turn + next.x, next.y);
                bring(other, user_vectors, range_starts[next.x], range_starts[next.x + 1] - range_starts[next.x]);
            }
        } else {
            const int from = begin, to = end;
            if (v + 1 < last) {
                begin = starts[visits[v + 1].z + here];
                end = starts[visits[v + 1].z + here + 1];
            }
            g.users = shared + ((v - first) & 1) * stride;
            const Clocks clocks{user_clock, item_clock, user_turn, item_turn, LOG ? range_starts[visits[v].x] : 0,
                                table + table_first};
            if (shares) {
                work_hub<EACH>(g, edges, from, to, clocks, hub_lock, hub);
            } else if (__any_sync(full_mask, to - from >= deep)) {
                work_deep<EACH>(g, edges, from, to, clocks);
            } else {
                work(g, edges, from, to, clocks);
            }
        }
    }
    if (!mover && g.place >= 0) remember(items, g.place, g.item);
    __syncthreads();
    if (mover && first < last) {
        const int4 done = visits[last - 1];
        put_back(shared + ((last - 1 - first) & 1) * stride, user_vectors, range_starts[done.x],
                 range_starts[done.x + 1] - range_starts[done.x]);
        __syncwarp();
        if (lane_id() == 0) {
            order_memory();
            store_release(turn + done.x, (unsigned)done.y + 1u);
        }
    }
    for (int k = block_thread() / LANES; k < table_size; k += groups) {
        store(item_vectors, table[table_first + k], recall(items, k));
    }
    g.tally.report(applied);
}
