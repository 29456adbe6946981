// Betweenness of one small graph by all multiprocessors: a lane for each pair of a source and a vertex, one launch.
//
// What it computes: the result of lanes.cu and finish.cu, to the bit, for an undirected graph of fewer than 2,048
// vertices.
//
// The idea: a single graph leaves no other work to hide latency, so the longest dependency chain bounds the time.
// Sources are spread over all multiprocessors (512 sources: four a block), and a block's threads take the pairs
// (source, vertex) of a level, so a level takes as long as its longest row. The next frontier is found on words, a bit
// a source, and appended to the next level's queue while the path counts of the level are added up, between the same
// two barriers.
//
// Cost: a memset or a further launch takes several microseconds, as long as some levels. So blocks add their shares to
// one array of sums, and the last block to arrive converts them to values and clears them for the next launch. Vertices
// are taken by degree, so that the rows of a warp have similar lengths. Rows are read in a pipeline: four values are
// added while the next four are loaded.
//
// The order of a queue depends on the schedule; sums do not: a pair adds in the order of its row, and shares are whole
// numbers. Levels of neighbors differ by at most one: a bit for the level modulo 4 identifies successors.
//
// REAL: float or double.
//
// compile: REAL=double,float
//
// Reference: Brandes 2001.
#include "pack.cuh"

__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }

// Values of four neighbors of a pair; 0 for those not selected. Values are > 0 (or NaN), so adding 0 changes no bit.
struct Four {
    REAL a, b, c, d;
};
template <class Mark>
__device__ __forceinline__ Four masked_values(const Quad q, const Mark* marks, unsigned mask, const REAL* values) {
    const unsigned a = marks[q.a] & mask, b = marks[q.b] & mask, c = marks[q.c] & mask, d = marks[q.d] & mask;
    Four f;
#ifndef LOCKSTEP_HOST
    // By predicates: compiled from `if`s they become branches, which cost more instructions than what they save.
    const unsigned base = (unsigned)__cvta_generic_to_shared(values), step = sizeof(REAL);
    if (sizeof(REAL) == 8) {
        asm volatile(
            "{ .reg .pred p, q, r, s;\n"
            "setp.ne.u32 p, %4, 0; setp.ne.u32 q, %5, 0; setp.ne.u32 r, %6, 0; setp.ne.u32 s, %7, 0;\n"
            "mov.f64 %0, 0d0000000000000000; mov.f64 %1, 0d0000000000000000; "
            "mov.f64 %2, 0d0000000000000000; mov.f64 %3, 0d0000000000000000;\n"
            "@p ld.shared.f64 %0, [%8]; @q ld.shared.f64 %1, [%9]; "
            "@r ld.shared.f64 %2, [%10]; @s ld.shared.f64 %3, [%11]; }"
            : "=&d"(*(double*)&f.a), "=&d"(*(double*)&f.b), "=&d"(*(double*)&f.c), "=&d"(*(double*)&f.d)
            : "r"(a), "r"(b), "r"(c), "r"(d), "r"(base + q.a * step), "r"(base + q.b * step), "r"(base + q.c * step),
              "r"(base + q.d * step));
    } else {
        asm volatile(
            "{ .reg .pred p, q, r, s;\n"
            "setp.ne.u32 p, %4, 0; setp.ne.u32 q, %5, 0; setp.ne.u32 r, %6, 0; setp.ne.u32 s, %7, 0;\n"
            "mov.f32 %0, 0f00000000; mov.f32 %1, 0f00000000; mov.f32 %2, 0f00000000; mov.f32 %3, 0f00000000;\n"
            "@p ld.shared.f32 %0, [%8]; @q ld.shared.f32 %1, [%9]; "
            "@r ld.shared.f32 %2, [%10]; @s ld.shared.f32 %3, [%11]; }"
            : "=&f"(*(float*)&f.a), "=&f"(*(float*)&f.b), "=&f"(*(float*)&f.c), "=&f"(*(float*)&f.d)
            : "r"(a), "r"(b), "r"(c), "r"(d), "r"(base + q.a * step), "r"(base + q.b * step), "r"(base + q.c * step),
              "r"(base + q.d * step));
    }
#else
    f.a = a ? values[q.a] : 0, f.b = b ? values[q.b] : 0, f.c = c ? values[q.c] : 0, f.d = d ? values[q.d] : 0;
#endif
    return f;
}

// The sum over a row (of at least one quad) of the values of those neighbors whose mark has one of the bits of
// `mask`, in order.
template <class Mark>
__device__ __forceinline__ REAL row_sum(const Quad* quad, int quads, const Mark* marks, unsigned mask,
                                        const REAL* values) {
    REAL sum = 0;
    Four current = masked_values(*quad, marks, mask, values);
#pragma unroll 1
    for (; --quads > 0;) {
        const Four next = masked_values(*++quad, marks, mask, values);
        sum = sum + current.a;
        sum = sum + current.b;
        sum = sum + current.c;
        sum = sum + current.d;
        current = next;
    }
    sum = sum + current.a;
    sum = sum + current.b;
    sum = sum + current.c;
    return sum + current.d;
}

// Copies the rows as copy_rows does, for a block without other work to hide latency: row bounds first, then eight lanes
// a row, each with four entries in flight. first, degree: n words each of shared memory not yet in use.
__device__ __forceinline__ bool fetch_rows(const Rows g, const int* __restrict__ offsets,
                                           const Arc* __restrict__ targets, int n, int threads, int* first,
                                           int* degree) {
    const int t = (int)block_thread(), lane = t & 7;
    for (int v = t; v < n; v += threads) {
        const int begin = offsets[v], count = offsets[v + 1] - begin;
        first[v] = begin;
        degree[v] = count;
#if WIDE
        g.rows[v] = make_uint2((((unsigned)begin + 3u * v) & ~3u) >> 2, (unsigned)(count + 3) >> 2);
#else
        g.rows[v] = (((unsigned)begin + 3u * v) & ~3u) >> 2 | (unsigned)(count + 3) >> 2 << 16;
#endif
    }
    __syncthreads();
    bool unsorted = false;
    for (int v = t >> 3; v < n; v += threads >> 3) {
        const Arc* const from = targets + first[v];
        const int count = degree[v], end = (count + 3) & ~3;
        Id* const ids = (Id*)(g.quads + first_quad(g.rows[v]));
        for (int i = lane; i < end; i += 32) {
            Id id[4], previous[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const int index = i + 8 * k;
                id[k] = index < count ? (Id)from[index] : (Id)n;
                previous[k] = index < count && index > 0 ? (Id)from[index - 1] : (Id)0;
            }
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const int index = i + 8 * k;
                if (index < end) ids[index] = id[k];
                unsorted |= index > 0 && index < count && previous[k] >= id[k];
            }
        }
    }
    return unsorted;
}

// vertex, arc, n, m: where the graph lies in the pack, and its size. block_sources: sources of a block. order: its
// vertices by falling degree. fixed: n sums, zero before and after. arrived: blocks that are done, 0 before and after.
extern "C" __global__ void __launch_bounds__(1024, 1) alone(
    int graph, long long vertex, long long arc, int n, int m, int block_sources, const int* __restrict__ offsets,
    const Arc* __restrict__ targets, const unsigned short* __restrict__ order, int endpoints, u64* fixed,
    unsigned* arrived, double* values, u64* checksums) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int threads = (int)blockDim.x, t = (int)block_thread(), lane = t & 31;
    const int s0 = (int)blockIdx.x * block_sources, sources = n - s0 < block_sources ? n - s0 : block_sources;

    BumpAllocator state{shared + 16};
    const Rows g = carve_rows(state, n, m);
    u64* const sums = state.allocate<u64>(n);
    REAL* const value = state.allocate<REAL>((long long)block_sources * (n + 1));  // path counts, then dependencies
    unsigned* before = state.allocate<unsigned>(n + 1);                   // words of three levels next to each other
    unsigned* present = state.allocate<unsigned>(n + 1);
    unsigned* after = state.allocate<unsigned>(n + 1);
    unsigned* const seen = state.allocate<unsigned>(n);
    unsigned* const sizes = state.allocate<unsigned>(n + 1);              // pairs of each level
    unsigned short* const order_shared = state.allocate<unsigned short>(n);       // `order`
    // pairs: vertex, source << 11
    unsigned short* const pairs_queue = state.allocate<unsigned short>((long long)block_sources * n);
    unsigned char* const code = state.allocate<unsigned char>((long long)block_sources * (n + 1));

    for (int v = t; v <= n; v += threads) {
        const unsigned start = v >= s0 && v < s0 + sources ? 1u << (v - s0) : 0u;
        present[v] = start;
        before[v] = sizes[v] = 0;
        if (v == n) after[v] = 0;
        else sums[v] = 0, seen[v] = start, order_shared[v] = order[vertex + v];
    }
    for (int i = t; i < block_sources * (n + 1); i += threads) code[i] = 0;
    const bool unsorted = fetch_rows(g, offsets + vertex + graph, targets + arc, n, threads, (int*)after, (int*)value);
    if (__syncthreads_or(unsorted)) {
        remove_duplicates(g, n, threads);
        __syncthreads();
    }
    if (t < sources) {
        value[t * (n + 1) + s0 + t] = 1;
        code[t * (n + 1) + s0 + t] = 1;
    }
    const unsigned all_sources = (unsigned)((1ull << sources) - 1);
    const int fraction = fraction_bits(n);
    const REAL scale = (REAL)(1LL << fraction);

    // Forward: the path counts of level `level`, whose pairs are pairs_queue[head..tail), and the pairs of the next.
    int level = 0, head = 0, tail = 0;
    for (;; ++level) {
        const int next_level = level + 1;
        const unsigned mark = 1u << (next_level & 3);
        bool found = false;
        for (int base = 0; base < n; base += threads / 4) {
            const int index = base + (t >> 2), v = index < n ? order_shared[index] : n;
            const unsigned reached = v < n ? seen[v] : all_sources, unreached = all_sources & ~reached;
            unsigned newly = 0;
            if (unreached) {
                const Row row = g.rows[v];
                const Quad* const quads = g.quads + first_quad(row);
                for (int k = t & 3; k < (int)quads_of(row) && (newly & unreached) != unreached; k += 4) {
                    const Quad q = quads[k];
                    newly |= present[q.a] | present[q.b] | present[q.c] | present[q.d];
                }
            }
            newly |= __shfl_xor_sync(full_mask, newly, 1);
            newly |= __shfl_xor_sync(full_mask, newly, 2);
            newly &= unreached;
            __syncwarp();
            if (v < n && (t & 3) == 0) {
                after[v] = newly;
                if (newly) seen[v] = reached | newly;
            }
            if (!__any_sync(full_mask, newly != 0)) continue;
            found = true;
            for (int i = t & 3; i < (block_sources + 3 & ~3); i += 4) {
                const bool is_new = newly >> i & 1;
                const unsigned new_lanes = __ballot_sync(full_mask, is_new);
                unsigned place = 0;
                if (lane == 0 && new_lanes) place = atomicAdd(&sizes[next_level], (unsigned)__popc(new_lanes));
                place = __shfl_sync(full_mask, place, 0) + (unsigned)__popc(new_lanes & ((1u << lane) - 1u));
                if (is_new) {
                    pairs_queue[tail + place] = (unsigned short)(v | i << 11);
                    code[i * (n + 1) + v] = (unsigned char)mark;
                }
            }
        }
        for (int i = head + t; i < tail; i += threads) {
            const unsigned pair = pairs_queue[i], v = pair & 2047u, source = pair >> 11;
            const Row row = g.rows[v];
            REAL* const source_values = value + source * (n + 1);
            source_values[v] =
                row_sum(g.quads + first_quad(row), (int)quads_of(row), before, 1u << source, source_values);
        }
        if (!__syncthreads_or(found)) break;
        head = tail;
        tail += (int)sizes[next_level];
        unsigned* const swap = before;
        before = present;
        present = after;
        after = swap;
    }

    // Backward: from the last level to the first. A source's reached vertices are counted on the way.
    for (; level > 0; --level) {
        const unsigned mark = 1u << ((level + 1) & 3);
        for (int i = head + t; i < tail; i += threads) {
            const unsigned pair = pairs_queue[i], v = pair & 2047u, source = pair >> 11;
            const Row row = g.rows[v];
            REAL* const source_values = value + source * (n + 1);
            const REAL sum =
                row_sum(g.quads + first_quad(row), (int)quads_of(row), code + source * (n + 1), mark, source_values);
            const REAL sigma = source_values[v], delta = times(sigma, sum), term = dependency_term(sigma, delta);
            source_values[v] = term;
            u64 share = 0;
            if (term == term) share = (u64)(long long)times(delta, scale);
            else atomicOr(&fixed[v], OVERFLOWED);
            if (endpoints) {
                share += 1ull << fraction;
                atomicAdd(&sums[s0 + source], 1ull << fraction);
            }
            if (share) atomicAdd(&sums[v], share);
        }
        __syncthreads();
        tail = head;
        head -= (int)sizes[level - 1];
    }

    for (int v = t; v < n; v += threads) {
        if (sums[v]) atomicAdd(&fixed[v], sums[v]);
    }
    __threadfence();
    __syncthreads();
    unsigned* const last = (unsigned*)shared;
    if (t == 0) *last = atomicAdd(arrived, 1u);
    __syncthreads();
    if (*last != gridDim.x - 1) return;

    // The last block: fixed point to values, each pair of vertices once, and the checksum.
    __threadfence();
    const double unit = 0.5 / (double)(1LL << fraction);
    u64 sum = 0;
    for (int v = t; v < n; v += threads) {
        const u64 word = __ldcg(&fixed[v]);
        fixed[v] = 0;
        values[vertex + v] = word & OVERFLOWED ? __longlong_as_double(0x7ff8000000000000LL) : (double)word * unit;
        sum += checksum_term(v, word);
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(full_mask, sum, o);
    if (t == 0) sums[0] = 0;
    __syncthreads();
    if (lane == 0) atomicAdd(&sums[0], sum);
    __syncthreads();
    if (t == 0) {
        checksums[graph] = sums[0];
        *arrived = 0;
    }
}
