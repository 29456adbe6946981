// Levels by one block that counts in shared memory, for graphs too large to have all their in-degrees there.
//
// Idea      What a level of some tens of vertices costs is not bandwidth but one warp's way through it: every access that waits
//           for the one before, and every instruction, at five cycles each. So all that a level can do without is done before.
// table     Only vertices that have lost some, not all, of their predecessors need a counter. In a deep graph whose arcs lead
//           not far on they are few: behind the frontier all are done, far ahead none is touched. A bucket has four ways, a way
//           is one word: {1 | number | one more than remains}, looked at with one access and counted down with one atomic. A
//           way that nobody has holds the level in which it was emptied (less than 2^31), and is free from the next level on:
//           so within a level no way gets free, all who look for a vertex try the same way first, and two of them never enter
//           it twice.
//           Whom a full bucket has no room for goes to another one, as a stray; while there are strays, who does not find a
//           vertex in its own bucket looks there too. Where that is full as well, the vertex is counted in global memory in
//           this level, and the block goes back to the others after it. It comes back and takes over what is touched by then;
//           if that is too much, it goes on without a table (narrow.cu).
// rows      Who leaves a vertex with one predecessor asks for its record, so that it is near when the vertex gets ready; nobody
//           waits for it. (What comes goes into a word that nobody reads: an instruction to fetch ahead brings it to L2 only and
//           takes longer, a load into a register holds up others.)
// branches  A warp goes through all of them, one after another, and each costs as much as ten instructions. So counting, entering
//           and asking are each one instruction that some lanes leave out.
// What it leaves
//           a level of 56 vertices and 450 arcs takes 0.94 us on an H200, and 0.77 where nothing must be looked up (indexed.cuh).
//           By the profiler a warp that has arcs is busy for three quarters of that with some 165 instructions, and waits for the
//           slowest one in the rest; a tenth of the time is the wait for records. Tried, and no faster on such levels (no rows are
//           kept of these trials):
//           - two or four arcs to a lane: fewer instructions an arc, but half as many warps, and each waits as long as before;
//           - buckets of two ways, looked at in half the instructions, and atomics by all lanes instead of branches around them:
//             faster where all arcs of a vertex come from one level (layers, wavefronts), slower where levels have few arcs;
//           - records asked for when two or three predecessors remain: in time more often, but the level takes no less;
//             asked for a level later, so that a level's own records go first: longer;
//           - a cluster of four or eight blocks, with a counter for each vertex in the shared memory of one of them, which alone
//             takes its arcs: what gets ready must be sent to all, 1.3 and 1.8 us.
//
// References: D. Merrill et al., PPoPP 2012; R. Pagh, F. F. Rodler, "Cuckoo hashing", J. Algorithms 2004 (two places for each).
#pragma once
#include "records.cuh"

// Vertices that have lost predecessors since their codes were made, or since they were last looked for. touched: {how many, they},
// at most `most` of them.
__device__ inline void find_touched(const Problem& p, const Records& t, int* touched, int most) {
    for (int v = global_thread(); v < p.n; v += global_threads()) {
        const unsigned left = __ldcg(p.in_degrees + v), whole = __ldcg(t.codes + v) >> chunk_bits & t.degrees();
        if (left == 0 || left == whole) continue;
        const int place = atomicAdd(touched, 1);
        if (place < most) store_relaxed(touched + 1 + place, v);
    }
}

// Which of the bucket's ways has this key; 4: none.
__device__ __forceinline__ unsigned match(const uint4& ways, unsigned key, unsigned counter) {
    unsigned way = ways.w - (key + 1) < counter ? 3 : 4;
    way = ways.z - (key + 1) < counter ? 2 : way;
    way = ways.y - (key + 1) < counter ? 1 : way;
    return ways.x - (key + 1) < counter ? 0 : way;
}

// The least of the ways, and its word: if any is free, one that is.
__device__ __forceinline__ unsigned least(const uint4& ways, unsigned& word) {
    word = min(min(ways.x, ways.y), min(ways.z, ways.w));
    unsigned way = ways.z == word ? 2 : 3;
    way = ways.y == word ? 1 : way;
    return ways.x == word ? 0 : way;
}

// The way of a vertex in either of its buckets, or else one that it enters now with this count; nobody's if there is no room.
__device__ __forceinline__ unsigned find_or_enter(const Records& t, unsigned code, unsigned count, unsigned now, bool& known) {
    const unsigned key = t.key(code), bucket = t.bucket(code);
    const unsigned other = (bucket + 1 + (code >> (32 - t.bits) & 7)) & ((1u << t.bucket_bits) - 1);
    for (;;) {
        const uint4 ways = get_four(skip(t.buckets, 4 * bucket)), others = get_four(skip(t.buckets, 4 * other));
        const unsigned here = match(ways, key, t.counter()), there = match(others, key, t.counter());
        known = true;
        if (here < 4) return 4 * bucket + here;
        if (there < 4) return 4 * other + there;
        known = false;
        unsigned seen, way = 4 * bucket + least(ways, seen);
        const bool strays = seen >= now;
        if (strays) {
            way = 4 * other + least(others, seen);
            if (seen >= now) return t.nobody();
            add_there(t.strays(), 1);
        }
        if (swap_there(skip(t.buckets, way), seen, key | (strays ? t.stray() : 0) | count) == seen) return way;
        if (strays) add_there(t.strays(), 0xffffffffu);
    }
}

// The frontier as a list of chunks, and a table of the vertices that are touched. Returns whether there was room for these.
__device__ inline bool set_up(const Problem& p, const Records& t, const Position& at, int* touched, int most_touched) {
    for (unsigned i = threadIdx.x; i <= t.nobody(); i += blockDim.x) put_there(skip(t.buckets, i), 0);
    if (threadIdx.x == 0) put_there(t.strays(), 0);
    clear_counts(t);
    __syncthreads();
    const int found = load_relaxed(touched), many = min(found, most_touched);
    for (int i = threadIdx.x; i < many; i += blockDim.x) {
        const int v = load_relaxed(touched + 1 + i);
        bool known;
        const unsigned way = find_or_enter(t, static_cast<unsigned>(v) << (32 - t.bits), __ldcg(p.in_degrees + v) + 1, 1, known);
        if (way == t.nobody()) put_there(skip(t.counts, 1), leave);
    }
    __syncthreads();
    const bool room = found == many && get_there(skip(t.counts, 1)) == 0;
    __syncthreads();
    if (threadIdx.x == 0) store_relaxed(touched, 0);
    if (!room) return false;
    // Counted on in the table, a vertex's in-degree in global memory stays behind; it is not to be taken for touched again.
    for (int i = threadIdx.x; i < many; i += blockDim.x) {
        const int v = load_relaxed(touched + 1 + i);
        const unsigned left = __ldcg(p.in_degrees + v);
        t.codes[v] = (__ldcg(t.codes + v) & ~(t.degrees() << chunk_bits)) | left << chunk_bits;
    }
    list_frontier(p, t, at);
    return true;
}

// Block 0 alone: levels until the frontier is empty, or has more than `most` vertices or chunks than a list holds, or the table is
// full, or the bell rings (then the frontier is empty). Remaining in-degrees are in global memory before and after. If there is no
// room for what was touched before, nothing is done, and `turn` says so.
// Registers are few where threads are many, so what the way through a level needs is named here, once.
__device__ __noinline__ Position go_counting(const Problem p, const Records t, const Position at, const Bell bell, int most,
                                             int* touched, int most_touched) {
    bell.hang_up();  // another thread asks from here on
    if (!set_up(p, t, at, touched, most_touched)) return {at.begin, at.size, at.level, table_full};
    const int lane = lane_id();
    const unsigned vertex = t.vertex(), degrees = t.degrees(), counter = t.counter(), stray = t.stray();
    const int to_number = 32 - t.bits, to_bucket = 32 - t.bucket_bits, to_record = to_number - t.record_bits;
    // By shuffles: else the compiler would ask for the thread's number anew in every level, and where it sees that all lanes count
    // at one address, it would have them agree first on which of them sends one atomic for all.
    const unsigned group = __shfl_sync(full_mask, threadIdx.x / chunk_arcs, lane), apart = __shfl_sync(full_mask, 0u, lane);
    const unsigned limit = static_cast<unsigned>(most) * one_vertex, last_place = t.capacity - most_chunks;
    const char* records = t.records + 4 * (lane % chunk_arcs);
    unsigned spare = threadIdx.x;  // and `both` less that, in turns
    const unsigned both = 2 * threadIdx.x + 2 * blockDim.x;
    const Spot strays_at = skip(t.strays(), apart);
    const bool clerk = threadIdx.x == blockDim.x - 1;  // of the warp that has the least to do
    const int before_first = at.level - 1;
    int* found = p.order + at.begin;
    unsigned now = 1, list = 0;         // levels counted from 1, and which of the two lists is the frontier
    uint2 count = get_two(t.counts);
    __syncthreads();
    while (count.x != 0 && count.y == 0) {
        const unsigned chunks = count.x & (one_vertex - 1);
        const Spot from = skip(t.lists, list), to = skip(t.lists, t.capacity - list);
        const Spot counting = skip(t.counts, (now & 3) * 2 + apart);
        found += count.x / one_vertex;
        if (clerk) {
            const Spot cleared = skip(t.counts, ((now + 1) & 3) * 2);
            put_two(cleared, 0, 0);
            p.levels[2 + before_first + now] = count.x / one_vertex;
            if (bell.rings(now, 3)) put_there(skip(counting, 1), halt);
            bell.ask(static_cast<int>(now));
        }
        unsigned i = group;
        while (__any_sync(full_mask, i < chunks)) {
            const unsigned chunk = get_there(skip(from, min(i, chunks - 1))), strays = get_there(strays_at);
            unsigned word = fetch(reinterpret_cast<const unsigned*>(records + chunk));
            if (i >= chunks) word = 0;
            i += blockDim.x / chunk_arcs;
            const unsigned code = word & vertex, key = code >> 1 | 1u << 31, degree = word >> chunk_bits & degrees;
            const unsigned bucket = code * odd >> to_bucket << 2;
            const uint4 ways = get_four(skip(t.buckets, bucket));
            const unsigned here = match(ways, key, counter);
            unsigned seen, way = least(ways, seen);
            const bool known = here < 4 && word != 0, single = here == 4 && degree == 1, unknown = here == 4 && degree > 1;
            const bool enters = unknown && seen < now && strays == 0;
            way = bucket + (known ? here : way);
            unsigned counted = 0, was = 0;
            count_or_enter(known, enters, skip(t.buckets, way), seen, key | degree, counted, was);
            unsigned before = known ? counted & counter : single ? 2 : 0;  // one more than remained; 2: this was the last one
            bool entered = enters && was == seen;
            if (unknown && !entered) {
                bool there = enters && was - (key + 1) < counter;  // somebody else entered it just now
                if (!there) way = find_or_enter(t, word, degree, now, there);
                if (there) {
                    before = add_there(skip(t.buckets, way), 0xffffffffu) & counter;
                } else if (way == t.nobody()) {  // counted where it was, by all who meet it in this level
                    put_there(skip(counting, 1), leave);
                    before = atomicSub(p.in_degrees + (code >> to_number), 1) + 1;
                } else {
                    entered = true;
                }
            }
            const unsigned own = word & 7u, record = code >> to_record;
            // Once one predecessor remains: earlier, and too many would be kept near, later, and it would not come in time.
            ask_for(single || (entered && degree == 2) || (before & ~stray) == 3, t.records + record, own > 1,
                    skip(t.spare, spare), blockDim.x);
            spare = both - spare;
            if ((before & ~stray) == 2) {
                const unsigned gets = add_there(counting, one_vertex | own);
                exchange_there(skip(t.buckets, single ? t.nobody() : way), now);
                found[gets / one_vertex] = code >> to_number;
                const unsigned first = gets & (one_vertex - 1);
                if (gets >= limit || first > last_place) {
                    put_there(skip(counting, 1), leave);
                } else {
                    const Spot mine = skip(to, first);
                    if (own > 0) put_there(mine, record);
                    if (own > 1) put_there(skip(mine, 1), record + chunk_bytes);
                    if (own > 2) {
                        put_there(skip(mine, 2), record + 2 * chunk_bytes);
                        if (own > 3) put_there(skip(mine, 3), record + 3 * chunk_bytes);
                    }
                }
                if (before & stray) add_there(strays_at, 0xffffffffu);
            }
        }
        __syncthreads();
        count = get_two(counting);
        list = t.capacity - list;
        ++now;
    }
    asked_done();
    __syncthreads();
    for (unsigned i = threadIdx.x; i < t.nobody(); i += blockDim.x) {
        const unsigned word = get_there(skip(t.buckets, i));
        if (word >> 31 == 0) continue;
        const unsigned v = word << 1 >> to_number;
        p.in_degrees[v] = (word & counter & ~stray) - 1;
        // More than can remain: it is touched, also if nobody meets it before the block comes back.
        t.codes[v] = __ldcg(t.codes + v) | degrees << chunk_bits;
    }
    const int size = count.y == halt ? 0 : static_cast<int>(count.x / one_vertex);
    return {static_cast<int>(found - p.order), size, before_first + static_cast<int>(now), 0};
}
