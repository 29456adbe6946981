// Betweenness of sparse graphs with many levels: one lane per (source, vertex) pair, a few sources per warp.
//
// Computes the same as lanes.cu, bit for bit, for undirected graphs of fewer than 2,048 vertices of degree at most 32.
//
// Idea: a level of a deep graph holds a dozen vertices, and of 32 sources few have the same vertex in the same level
// (proteins: 3 on average). So a warp processes a few sources with one queue of (source, vertex) pairs and assigns each
// lane the next pair of the level, of any source. A row is read once per direction: the forward pass sums the path
// counts of the previous level and finds the vertices of the next; the backward pass sums the successors' terms.
//
// Why: warps share only the graph, the sums and the source counter, so no level waits for a block barrier. A step is a
// chain of dependent loads, so the time depends on the number of warps that hide their latency, that is, on the bytes
// of shared memory per pair (recording which arcs led on, for the backward pass, takes two more, and is slower).
//
// Neighbors' levels differ by at most one, so a level modulo 4 suffices: a code is 0 (not reached), 16 and one of the
// bits 1, 2, 4, 8, or 16 alone for the padding id n. The lane whose atomicOr sets a code first enqueues the vertex.
// Four codes in a word are tested at once, and a multiplication gathers the results: in a row of q quads, arc i is bit
// 4 q - 1 - i of a mask. The order of a queue depends on timing; sums do not: a vertex adds in the order of its row,
// and shares are integers.
//
// REAL: float or double.
//
// compile: REAL=double,float
//
// Reference: U. Brandes, "A faster algorithm for betweenness centrality", J. Mathematical Sociology 25 (2001).
#include "pack.cuh"

#define REACHED 16u
#define EACH 0x10101010u    // REACHED of four codes
#define GATHER 0x08040201u  // as a factor: moves code i's bit to bit 31 - i

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }

// 2^k; the compiler would move an integer conversion into the innermost loop.
__device__ __forceinline__ float power_of_two(float, int k) { return __int_as_float((127 + k) << 23); }
__device__ __forceinline__ double power_of_two(double, int k) {
    return __longlong_as_double((long long)(1023 + k) << 52);
}

// sums[v] += share, in two words: native shared-memory integer adds have 32 bits.
__device__ __forceinline__ void add_share(unsigned* low, unsigned* high, unsigned v, u64 share) {
    const unsigned part = (unsigned)share;
    const unsigned old = part ? atomicAdd(&low[v], part) : 0u;
    const unsigned rest = (unsigned)(share >> 32) + (old > ~part ? 1u : 0u);
    if (rest) atomicAdd(&high[v], rest);
}

// items: graph, first source, sources. room: bytes of shared memory of a block. endpoints: paths count at their ends
// too. fixed: for each vertex of the pack its sum of shares, which are dependencies rounded down to fraction_bits. A
// term is (1 + dependency) / number of paths.
extern "C" __global__ void __launch_bounds__(512, 2) pairs(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets, int room,
    int endpoints, u64* fixed) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int lane = (int)lane_id(), warp = (int)warp_id(), threads = (int)blockDim.x, t = (int)block_thread();
    unsigned* const next_source = (unsigned*)shared + 1;  // the first source not yet taken

    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item], first = items[3 * item + 1], total = items[3 * item + 2];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        const int n = p.n;

        BumpAllocator state{shared + 16};
        const Rows g = carve_rows(state, n, p.m);
        unsigned* const low = state.allocate<unsigned>(n);
        unsigned* const high = state.allocate<unsigned>(n);
        // The remaining memory is divided among warps, and a warp's part among its sources.
        const int free_bytes = room - (int)(state.left - shared);
        const int bytes_per_source = ((int)sizeof(REAL) + 3) * (n + 1), bytes_per_warp = 2 * (n + 1) + 5 * 16;
        const int warps_that_fit = free_bytes / (bytes_per_source + bytes_per_warp + 16);
        const int warps_used = warps_that_fit < threads >> 5 ? warps_that_fit : threads >> 5;
        const int warp_bytes = free_bytes / warps_used & ~15;
        int sources_per_warp = (warp_bytes - bytes_per_warp) / bytes_per_source;
        sources_per_warp = sources_per_warp < 32 ? sources_per_warp : 32;
        const int sources_needed = (total + warps_used - 1) / warps_used;
        sources_per_warp = sources_per_warp < sources_needed ? sources_per_warp : sources_needed;

        const bool unsorted = copy_rows(g, p.offsets, p.targets, n, threads);
        for (int v = t; v < n; v += threads) low[v] = high[v] = 0;
        if (t == 0) *next_source = (unsigned)first;
        if (__syncthreads_or(unsorted)) {
            remove_duplicates(g, n, threads);
            __syncthreads();
        }
        const int fraction = fraction_bits(n);
        const REAL scale = power_of_two((REAL)0, fraction);

        BumpAllocator warp_memory{state.left + warp * warp_bytes};
        // path counts, then dependency terms
        REAL* const value = warp_memory.allocate<REAL>(sources_per_warp * (n + 1));
        unsigned* const code_words = (unsigned*)warp_memory.allocate<unsigned char>(sources_per_warp * (n + 1) + 3);
        const unsigned char* const code = (const unsigned char*)code_words;
        // the queue: vertex, source << 11
        unsigned short* const pairs_queue = warp_memory.allocate<unsigned short>(sources_per_warp * n);
        unsigned short* const start = warp_memory.allocate<unsigned short>(n + 1);   // start of each level in it
        const unsigned end_of_item = (unsigned)(first + total);
        while (warp < warps_used) {
            unsigned s0 = 0;
            if (lane == 0) s0 = atomicAdd(next_source, (unsigned)sources_per_warp);
            s0 = __shfl_sync(full_mask, s0, 0);
            if (s0 >= end_of_item) break;
            const int sources = (int)(end_of_item - s0) < sources_per_warp ? (int)(end_of_item - s0) : sources_per_warp;
            for (int i = lane; i < (sources * (n + 1) + 3) >> 2; i += 32) code_words[i] = 0;
            __syncwarp();
            if (lane < sources) {
                const int base = lane * (n + 1);
                ((unsigned char*)code_words)[base + n] = REACHED;
                ((unsigned char*)code_words)[base + s0 + lane] = REACHED | 1u;
                value[base + s0 + lane] = 1;
                pairs_queue[lane] = (unsigned short)((s0 + lane) | lane << 11);
            }
            __syncwarp();

            // Forward: path counts of level `depth`, and the vertices of the next.
            int head = 0, tail = sources, depth = 0;
            for (;; ++depth) {
                const int end = tail;
                if (lane == 0) start[depth] = (unsigned short)head;
                const unsigned before = 1u << ((depth + 3) & 3), after = 1u << ((depth + 1) & 3);
                for (int begin = head; begin < end; begin += 32) {
                    unsigned fresh = 0, pair = 0, base = 0;
                    const Id* last_id = nullptr;  // last id of the row
                    if (begin + lane < end) {
                        pair = pairs_queue[begin + lane];
                        const unsigned v = pair & 2047u;
                        base = (pair >> 11) * (unsigned)(n + 1);
                        const Row r = g.rows[v];
                        const Quad* quad = g.quads + first_quad(r);
                        last_id = (const Id*)(quad + quads_of(r)) - 1;
                        REAL sum = 0;
                        const unsigned char* const source_codes = code + base;
                        const REAL* const source_values = value + base;
#pragma unroll 1
                        for (int k = (int)quads_of(r); k > 0; --k) {
                            const Quad q = *quad++;
                            const unsigned a = source_codes[q.a], b = source_codes[q.b];
                            const unsigned c = source_codes[q.c], d = source_codes[q.d];
                            if (a & before) sum += source_values[q.a];
                            if (b & before) sum += source_values[q.b];
                            if (c & before) sum += source_values[q.c];
                            if (d & before) sum += source_values[q.d];
                            const unsigned word = a | b << 8 | c << 16 | d << 24;
                            fresh = fresh << 4 | (~word & EACH) * GATHER >> 28;
                        }
                        if (depth) value[base + v] = sum;
                    }
                    __syncwarp();
                    while (__any_sync(full_mask, fresh != 0)) {
                        unsigned u = 0, already_reached = 1;
                        if (fresh) {
                            const int bit = 31 - __clz(fresh);
                            u = *(last_id - bit);
                            fresh ^= 1u << bit;
                            const unsigned byte = base + u, shift = 8 * (byte & 3);
                            already_reached =
                                atomicOr(&code_words[byte >> 2], (REACHED | after) << shift) & REACHED << shift;
                        }
                        const unsigned first_lanes = __ballot_sync(full_mask, already_reached == 0);
                        if (already_reached == 0)
                            pairs_queue[tail + __popc(first_lanes & ((1u << lane) - 1u))] =
                                (unsigned short)(u | (pair & ~2047u));
                        tail += __popc(first_lanes);
                    }
                    __syncwarp();
                }
                head = end;
                if (tail == end) break;
            }

            // Backward: from the last level to level 1.
            for (int end = tail; depth > 0; --depth) {
                const int begin = start[depth];
                const unsigned after = 1u << ((depth + 1) & 3);
                for (int i = begin + lane; i < end; i += 32) {
                    const unsigned pair = pairs_queue[i], v = pair & 2047u, source = pair >> 11;
                    const unsigned base = source * (unsigned)(n + 1);
                    const REAL* const source_values = value + base;
                    REAL sum = 0;
                    const Row r = g.rows[v];
                    const Quad* quad = g.quads + first_quad(r);
                    const unsigned char* const source_codes = code + base;
#pragma unroll 1
                    for (int k = (int)quads_of(r); k > 0; --k) {
                        const Quad q = *quad++;
                        const unsigned a = source_codes[q.a], b = source_codes[q.b];
                        const unsigned c = source_codes[q.c], d = source_codes[q.d];
                        if (a & after) sum += source_values[q.a];
                        if (b & after) sum += source_values[q.b];
                        if (c & after) sum += source_values[q.c];
                        if (d & after) sum += source_values[q.d];
                    }
                    const REAL sigma = source_values[v], delta = times(sigma, sum);
                    const REAL term = dependency_term(sigma, delta);
                    value[base + v] = term;
                    u64 share = 0;
                    if (term == term) share = (u64)(long long)times(delta, scale);
                    else atomicOr(&fixed[p.vertex + v], OVERFLOWED);
                    if (endpoints) {
                        share += 1ull << fraction;
                        add_share(low, high, s0 + source, 1ull << fraction);
                    }
                    if (share) add_share(low, high, v, share);
                }
                __syncwarp();
                end = begin;
            }
        }
        __syncthreads();
        for (int v = t; v < n; v += threads) {
            const u64 sum = (u64)high[v] << 32 | low[v];
            if (sum) atomicAdd(&fixed[p.vertex + v], sum);
        }
    }
}
