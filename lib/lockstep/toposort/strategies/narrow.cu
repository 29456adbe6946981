// Optimization step 4: the number of threads adapts to the width of the level. The grid processes wide levels, a subset
// of few blocks those of medium width, one block narrow ones, one warp the narrowest.
//
// What it computes   order: the vertices, layer after layer; levels[0]: the number of layers, levels[1]: of vertices
//                    sorted, levels[2 + k]: the size of layer k. levels holds n + 4 ints.
// Idea               block 0 takes over at a level of at most `width` vertices and processes levels alone until one
//                    exceeds `capacity` (RECORDS: 5/4 of counted_width); the others poll the next grid barrier. A level
//                    then costs __syncthreads (on an H200 23 ns for 512 threads, 39 for 1,024: study 0), or
//                    __syncwarp (8 ns) if one warp suffices, instead of a grid barrier (0.9 us). The chain of dependent
//                    loads remains; it is shortened:
//                    - one 16-byte load returns a packed row {begin, end, first target, second target}; the grid packs
//                      all rows after `narrow_levels` narrow levels with many vertices unplaced, since packing does
//                      not pay on shallow graphs, and block 0 processes levels alone only from then on;
//                    - rows go through shared memory. The lane that decrements an in-degree loads that vertex's row at
//                      the same time, not when the vertex is ready: the load's latency overlaps the atomic's;
//                    - a warp on up to 32 vertices of at most two arcs each keeps them in registers, one a lane, and
//                      moves a row to another lane only where both successors of a vertex get ready at once; a lane's
//                      rows are loaded first and both its atomics then overlap;
//                    - remaining in-degrees are copied to shared memory if they fit in BITS = 8 or 16 bits each (0:
//                      they stay global): a dependent atomic takes 19 ns there and 205 in L2 (H200, study 0). They are
//                      copied back when the frontier exceeds the block's capacity.
//                    - where rows have more than an arc or two (RECORDS: bits of a counter), the block reads records of
//                      codes instead, two arcs to a lane, and counts in shared memory the predecessors of vertices near
//                      the frontier (indexed.cuh).
//                    A last layer that the grid reaches is not expanded: no arc leaves it. Grid, subset: resident.cuh.
// Shared memory      [20 ints (0-4: scratch of level_barrier, 5-7: counts, 8-12: shared_position, 16-19: the stop
//                    flag) | two rings of `capacity` packed rows, or the counts and lists of records.cuh |
//                    in-degrees, or counters]; the grid's buffers overlap the rings.
//
// References: S. Hong et al., "Accelerating CUDA graph algorithms at maximum warp", PPoPP 2011 (a few lanes a vertex);
//             D. Merrill et al., PPoPP 2012 (different kernels for different widths of a frontier).
// compile: BITS=0,8,16 THREADS=512,768
// compile: BITS=0 THREADS=768 RECORDS=4,8,16 CHUNK=4,8,16
#include "device.cuh"
#include "resident.cuh"

#ifndef RECORDS
#define RECORDS 0
#endif

#include "alone.cuh"

// With records, register pressure is high: most level loops are then functions that are not inlined, so that the live
// values of one do not spill those of another.
#if RECORDS
#define APART __device__ __noinline__
#else
#define APART __device__ __forceinline__
#endif
// Copies in-degrees to shared memory, runs levels on block 0, copies them back.
APART Position sort_alone(const Problem p, Position frontier, int warp_width, const StopFlag stop_flag) {
    load_degrees(p);
    run_block_levels(p, frontier, warp_width, stop_flag);
    if (frontier.size > 0) store_degrees(p);
    return frontier;
}

constexpr int min_backoff = 4, max_backoff = 64;  // back-off: levels before block 0 takes over again
constexpr int brief_visit = 64;                  // levels; a visit of no more doubles the back-off
constexpr int min_levels = 512;                  // fewer before a slot conflict rule out records

#if RECORDS
#include "records.cuh"
#include "numbering.cuh"
#include "indexed.cuh"
#endif

// Writes the frontier's rows into the queue, which the blocks of the next level poll.
__device__ inline void publish_rows(const Sort& s, const FrontierState& frontier) {
    for (int i = frontier.begin + global_thread(); i < frontier.begin + frontier.size; i += global_threads()) {
        store_relaxed(s.queue + i, bounds(s.rows, load_relaxed(s.order + i)));
    }
}

APART FrontierState sort_by_subset(const Sort s, FrontierState frontier, const SingleBlockRule rule, int width,
                                   int subset, const StopFlag stop_flag) {
    run_subset_levels(s, frontier, rule, width, subset, stop_flag);
    return frontier;
}

enum Prepared { nothing, recorded, no_records, packed };  // rows of block 0: none, records, records ruled out, packed

// m: at least the number of arcs. control: 24 ints, see save_frontier; level_counters: 5 words, four counters (see
// resident.cuh) and the numbers of sources and of roots; all zero. roots: the rows of the sources that have arcs.
// capacity: rows of a ring. warp_width (at most 16): one warp takes over at a level of that size, and keeps levels of
// up to twice as many vertices. The grid processes a frontier of more than `subset_max_width` vertices (see
// subset_width), block 0 one of at most `width` (narrow_levels: narrow_levels_left at first; tail: see
// SingleBlockRule), a subset of `subset` blocks the rest (max_held: see run_subset; helpers: see expand). stop: see
// StopFlag; once it is not zero, the sort may end early, with the order incomplete. done: if not null, 1 is written
// there at the end, unordered with other blocks' writes of `order`; it may be host memory. With BITS, every in-degree
// fits in BITS bits, and all of them from hot_offset on. With RECORDS block 0 has up to `counted_width` vertices. Then
// `slots` counters of RECORDS bits lie from hot_offset on, of which `epoch_bits` and `degree_bits` are used; records:
// record_bytes for each number; codes: n; extra: the workspace, extra_ints and the size of the slots. With epoch_bits,
// number_of: n, vertex_of: slots * 2^epoch_bits.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    narrow(const int* __restrict__ first, const int* __restrict__ last, const int* __restrict__ targets,
           int* in_degrees, int* order, unsigned long long* queue, unsigned long long* roots, int* levels, int4* rows,
           int* control, unsigned long long* level_counters, unsigned* barrier, const unsigned long long* stop,
           unsigned long long* done, int n, int m, int subset_max_width, int subset, int max_held, int helpers,
           int width, int warp_width, int capacity, int narrow_levels, int tail, int hot_offset, unsigned* records,
           unsigned* codes, int* extra, int* number_of, int* vertex_of, int counted_width, int slots, int epoch_bits,
           int degree_bits, int record_bytes) {
    DYNAMIC_SHARED(unsigned char, shared);
    int* scratch = reinterpret_cast<int*>(shared);
    unsigned char* room = shared + 4 * head_words;
    const Rows graph = {first, last, targets};
    const Sort s = {graph, in_degrees, order, queue, levels, level_counters, counters_of_subset(control),
                    reinterpret_cast<int*>(room) + warp_id() * buffer_slots, n,
                    RECORDS ? 1 : helpers, RECORDS ? 0 : max_held};  // with records no row is long; some have two arcs
    const Problem p = {first, last, targets, in_degrees, order, levels, rows, n, capacity,
                       reinterpret_cast<int4*>(room), scratch + 5, reinterpret_cast<unsigned*>(shared + hot_offset)};
    const StopFlag stop_flag = {stop};
#if RECORDS
    const Records r = {shared_address(room), reinterpret_cast<char*>(records), codes, number_of, vertex_of, extra,
                       slots, epoch_bits, degree_bits, static_cast<unsigned>(record_bytes),
                       counted_width + counted_width / 4};
    for (int i = global_thread(); i < extra_ints; i += global_threads()) extra[i] = 0;
#endif
    int exchanges = 0, backoff = min_backoff;
    int prepared = RECORDS ? nothing : no_records;
    if (threadIdx.x < head_words) scratch[threadIdx.x] = 0;
    // At most m vertices have predecessors, so slots before n - m hold sources, whose slots are never read.
    for (int i = max(0, n - m) + global_thread(); i < n; i += global_threads()) queue[i] = unwritten;
    push_sources(graph, in_degrees, n, order, roots, level_counters + 4, reinterpret_cast<int*>(room), m < n / 2);
    grid_barrier(barrier);
    FrontierState frontier = {0, static_cast<int>(load_relaxed(level_counters + 4) >> 32), 0, 0, narrow_levels};
    while (frontier.size > 0) {
        const int unplaced = n - frontier.begin - frontier.size;
        if (unplaced == 0) {  // the last layer: no arc leaves it
            if (global_thread() == 0) levels[2 + frontier.level] = frontier.size;
            frontier = {n, 0, frontier.level + 1, frontier.step, 0};
            break;
        }
        const SingleBlockRule rule = {RECORDS && prepared < no_records ? counted_width : width, tail, n};
        const int handover_width = subset_width(s, subset_max_width);
        const bool by_block = frontier.level > 0 && rule.applies(frontier);
        // If fewer vertices follow than this level holds, few levels are left: a subset's grid barrier would not pay.
        if (frontier.level == 0 || (!by_block && (frontier.size > handover_width || unplaced < frontier.size))) {
            run_all_blocks(s, frontier, rule, max(handover_width, rule.width), roots, scratch, stop_flag);
            continue;
        }
        const FrontierState before = frontier;
        Position reached = {frontier.begin, frontier.size, frontier.level, 0};
        if (!by_block) {
            frontier = sort_by_subset(s, frontier, rule, handover_width, subset, stop_flag);
#if RECORDS
        } else if (prepared < no_records) {
            if (!build_records(p, r, frontier.begin, prepared == nothing, roots, barrier)) {
                prepared = no_records;
                continue;
            }
            prepared = recorded;
            if (blockIdx.x == 0) reached = run_indexed(p, r, reached, stop_flag);
            else if (blockIdx.x == 1 && number_of) fetch_ahead(p, r);
#endif
        } else {
            if (prepared != packed) {
                for (int v = global_thread(); v < n; v += global_threads()) rows[v] = pack(p, v);
                prepared = packed;
            }
            grid_barrier(barrier);
            if (blockIdx.x == 0) reached = sort_alone(p, reached, warp_width, stop_flag);
        }
        // run_indexed's conflict (`phase`) travels to the other blocks in narrow_levels_left, which is set below; after
        // sort_alone that field is not read.
        if (by_block) frontier = {reached.begin, reached.size, reached.level, frontier.step, reached.phase};
        if (global_thread() == 0) save_frontier(control, exchanges, frontier);
        grid_barrier(barrier);
        frontier = load_frontier(control, exchanges++);
        if (by_block) {
            // Preparation takes the time of a few levels, so short visits of block 0 double the back-off.
            const bool was_brief = frontier.level - before.level <= brief_visit;
            backoff = was_brief ? min(2 * backoff, max_backoff) : min_backoff;
#if RECORDS
            if (prepared == recorded) {
                write_back(p, r, queue, before, frontier);
                if (frontier.narrow_levels_left && frontier.level - before.level < min_levels) prepared = no_records;
                grid_barrier(barrier);
            } else
#endif
            publish_rows(s, frontier);
            frontier.narrow_levels_left = backoff;
        }
        if (threadIdx.x < 4) scratch[threadIdx.x] = 0;
        __syncthreads();
    }
    if (global_thread() == 0) {
        levels[0] = frontier.level;
        levels[1] = frontier.begin;
        if (done) *const_cast<volatile Word*>(done) = 1;
    }
    stop_flag.drain();
}
