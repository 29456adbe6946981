// Connected components, strongly connected components and triangles of many small graphs.
//
// A block takes a graph; its labels, marks or bit strings lie in shared memory (HOLDS=0: in global), its rows in
// global memory. All results are integers that do not depend on the interleaving: smallest vertices, counts. Labels
// and marks may be read while others write them: labels fall (in strong components trimming raises them once) and
// marks rise, so a stale one costs at most a round (a race detector still reports it).
//
// compile:
// compile: HOLDS=0 WIDE=1
//
// References: coloring for strong components: Orzan 2004; min-label propagation with pointer jumping: Shiloach, Vishkin
// 1982.
#include "pack.cuh"

// Where a block's labels, marks or bit strings lie.
__device__ __forceinline__ BumpAllocator state_of(unsigned char* shared, unsigned char* scratch, long long stride) {
    return BumpAllocator{HOLDS == 0 ? scratch + (long long)blockIdx.x * stride : shared + 16};
}

__device__ __forceinline__ void finish_labels(const int* label, int n, int* out, u64* check) {
    u64 sum = 0;
    for (int v = block_thread(); v < n; v += blockDim.x) {
        out[v] = label[v];
        sum += checksum_term(v, (u64)(unsigned)label[v]);
    }
    if (sum) atomicAdd(check, sum);
}

// label[v]: the smallest vertex that v is connected with, ignoring directions. items: three ints each, the first of
// which is the graph. checksums: one a graph, zero before.
extern "C" __global__ void __launch_bounds__(1024, 1) components(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    unsigned char* scratch, long long stride, int* out, u64* checksums) {
    DYNAMIC_SHARED(unsigned char, shared);
    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        BumpAllocator state = state_of(shared, scratch, stride);
        int* const label = state.allocate<int>(p.n);
        for (int v = block_thread(); v < p.n; v += blockDim.x) label[v] = v;
        __syncthreads();
        for (bool moved = true; moved;) {
            bool changed = false;
            for (int v = block_thread(); v < p.n; v += blockDim.x) {
                for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
                    const int u = p.targets[a], here = load_relaxed(&label[v]), there = load_relaxed(&label[u]);
                    if (here == there) continue;
                    // Hooks the larger label's vertex, and with it all that point there, onto the smaller label.
                    const int low = here < there ? here : there, high = here < there ? there : here;
                    changed = true;
                    atomicMin(&label[high], low);
                    atomicMin(&label[here < there ? u : v], low);
                }
            }
            __syncthreads();
            for (int v = block_thread(); v < p.n; v += blockDim.x) {
                int root = load_relaxed(&label[v]);
                for (int up = load_relaxed(&label[root]); up != root; up = load_relaxed(&label[root])) root = up;
                store_relaxed(&label[v], root);
            }
            moved = __syncthreads_or(changed);
        }
        finish_labels(label, p.n, out + p.vertex, &checksums[graph]);
    }
}

// label[v]: the smallest vertex that v reaches and that reaches v. Each round gives every vertex without a component a
// color, the smallest vertex that reaches it. A vertex that is its own color is the smallest of its component: all
// vertices of that color that reach it.
extern "C" __global__ void __launch_bounds__(1024, 1) strong(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    unsigned char* scratch, long long stride, int* out, u64* checksums) {
    DYNAMIC_SHARED(unsigned char, shared);
    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        BumpAllocator state = state_of(shared, scratch, stride);
        int* const color = state.allocate<int>(p.n);   // n + c once v is known to be of component c
        int* const mark = state.allocate<int>(p.n);
        const int n = p.n;
        for (int v = block_thread(); v < n; v += blockDim.x) color[v] = v;
        __syncthreads();
        for (bool open = true; open;) {
            // Trimming: a vertex without arcs to open vertices is its own component. This alone solves acyclic graphs.
            for (bool moved = true; moved;) {
                bool changed = false;
                for (int v = block_thread(); v < n; v += blockDim.x) {
                    if (color[v] >= n) continue;
                    bool leads = false;
                    for (int a = p.offsets[v]; a < p.offsets[v + 1] && !leads; ++a) {
                        const int u = p.targets[a];
                        leads = u != v && load_relaxed(&color[u]) < n;
                    }
                    if (!leads) {
                        store_relaxed(&color[v], n + v);
                        changed = true;
                    }
                }
                moved = __syncthreads_or(changed);
            }
            for (bool moved = true; moved;) {
                bool changed = false;
                for (int v = block_thread(); v < n; v += blockDim.x) {
                    const int mine = load_relaxed(&color[v]);
                    if (mine >= n) continue;
                    for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
                        const int u = p.targets[a], theirs = load_relaxed(&color[u]);
                        if (theirs < n && theirs > mine) {
                            atomicMin(&color[u], mine);
                            changed = true;
                        }
                    }
                }
                moved = __syncthreads_or(changed);
            }
            for (int v = block_thread(); v < n; v += blockDim.x) mark[v] = color[v] == v;
            __syncthreads();
            for (bool moved = true; moved;) {
                bool changed = false;
                for (int v = block_thread(); v < n; v += blockDim.x) {
                    if (color[v] >= n || load_relaxed(&mark[v])) continue;
                    for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
                        const int u = p.targets[a];
                        if (color[u] == color[v] && load_relaxed(&mark[u])) {
                            store_relaxed(&mark[v], 1);
                            changed = true;
                            break;
                        }
                    }
                }
                moved = __syncthreads_or(changed);
            }
            bool left = false;
            for (int v = block_thread(); v < n; v += blockDim.x) {
                if (color[v] >= n) continue;
                if (mark[v]) color[v] += n;
                else {
                    color[v] = v;
                    left = true;
                }
            }
            open = __syncthreads_or(left);
        }
        for (int v = block_thread(); v < n; v += blockDim.x) color[v] -= n;
        __syncthreads();
        finish_labels(color, n, out + p.vertex, &checksums[graph]);
    }
}

// out[v]: triangles of the graph without directions, parallel arcs and loops. Neighborhoods are bit strings; a warp
// counts the bits that v's has in common with each neighbor's.
extern "C" __global__ void __launch_bounds__(1024, 1) triangles(
    const int* __restrict__ items, int count, unsigned* queue, const long long* __restrict__ vertex_start,
    const long long* __restrict__ arc_start, const int* __restrict__ offsets, const Arc* __restrict__ targets,
    unsigned char* scratch, long long stride, int* out, u64* checksums) {
    DYNAMIC_SHARED(unsigned char, shared);
    const int lane = lane_id();
    for (int round = 0;; ++round) {
        const unsigned item = next_item(queue, (unsigned*)shared, round);
        if (item >= (unsigned)count) return;
        const int graph = items[3 * item];
        const GraphView p = view_of(graph, vertex_start, arc_start, offsets, targets);
        BumpAllocator state = state_of(shared, scratch, stride);
        const long long words = (p.n + 31) >> 5;
        unsigned* const near = state.allocate<unsigned>(words * p.n);
        for (long long i = block_thread(); i < words * p.n; i += blockDim.x) near[i] = 0;
        __syncthreads();
        for (int v = block_thread(); v < p.n; v += blockDim.x) {
            for (int a = p.offsets[v]; a < p.offsets[v + 1]; ++a) {
                const int u = p.targets[a];
                if (u == v) continue;
                atomicOr(&near[v * words + (u >> 5)], 1u << (u & 31));
                atomicOr(&near[u * words + (v >> 5)], 1u << (v & 31));
            }
        }
        __syncthreads();
        u64 check = 0;
        for (int v = warp_id(); v < p.n; v += blockDim.x >> 5) {
            // Lane i holds word i of 32 words of v's neighborhood; the neighbors named there are taken one by one.
            unsigned common = 0;
            for (long long base = 0; base < words; base += 32) {
                const unsigned mine = base + lane < words ? near[v * words + base + lane] : 0u;
                for (int w = 0; w < 32 && base + w < words; ++w) {
                    for (unsigned bits = __shfl_sync(full_mask, mine, w); bits; bits &= bits - 1) {
                        const long long u = (base + w) * 32 + __ffs(bits) - 1;
                        for (long long k = lane; k < words; k += 32) {
                            common += __popc(near[v * words + k] & near[u * words + k]);
                        }
                    }
                }
            }
            common = __reduce_add_sync(full_mask, common) / 2;
            if (lane == 0) {
                out[p.vertex + v] = (int)common;
                check += checksum_term(v, common);
            }
        }
        if (check) atomicAdd(&checksums[graph], check);
    }
}
