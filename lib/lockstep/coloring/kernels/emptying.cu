// Takes colors away from a finished coloring: empties its highest class, then the next, as long as that works.
//
// Greedy loops end with classes of a handful of vertices, each of which met a neighbor of every color before. Such a vertex v
// can take color k all the same if its few neighbors of color k go elsewhere. A step takes one v and looks at all classes at
// once: which of its neighbors there have another color free. It takes the class that most of them can leave (then the one
// with fewest of them, then the lowest). Who cannot go elsewhere is driven out and queues up behind the others; who was
// driven out does not drive out in turn those who did it, for some steps. A class that is not empty after so many steps is put
// back as it was, and that is the end. Never more colors than before.
//
// Nothing depends on the interleaving: the queue, the choice of the class and the colors that those who leave take (the
// smallest free one each; they do not touch, being of one color) are defined by the graph and the coloring alone.
//
// One cooperative launch. Every block keeps the queue and the count of v's neighbors for itself, which costs a row and
// spares a barrier; the neighbors' own rows, which are most of the work, are shared out among blocks. Two barriers a step.
//
// References: A. Hertz, D. de Werra, "Using tabu search techniques for graph coloring", Computing 39 (1987). I. Bloechliger,
// N. Zufferey, "A graph coloring heuristic using partial solutions and a reactive tabu scheme", Computers & Operations
// Research 35 (2008), of which this is a short and unreactive form. Another way to fewer colors on a GPU: G. Alabandi, M.
// Burtscher, "Improving the speed and quality of parallel graph coloring", ACM Trans. Parallel Computing 9 (2022).
//
// compile: THREADS=512
#include "device.cuh"

constexpr int most_colors = 1024;  // a coloring with more is left as it is; not above 2^color_bits
constexpr int color_bits = 10;
constexpr int limit = 128;         // members of a class that is tried, and steps
constexpr int at_most = 8;         // neighbors who may be asked to make way, of one color
constexpr int longest_row = 8192;  // who has more neighbors is not asked, and not moved
constexpr int tenure = 10;         // steps for which somebody who was driven out does not come back
constexpr int places = 512;        // of the queue
constexpr int nowhere = 0xffff;
enum { TOP = 1, SIZE = 2 };        // words of `control`, after the barrier's

struct Queue {  // in shared memory
    int *who, *from, *when;
};

// The smallest color below top, not k, that is not marked with `stamp`; `nowhere` if there is none. By a warp.
__device__ __forceinline__ int free_color(const int* mark, int stamp, int top, int k) {
    for (int d = 0; d < top; d += 32) {
        const int mine = d + lane_id();
        const unsigned open = __ballot_sync(full_mask, mine < top && mine != k && mark[mine] != stamp);
        if (open) return d + __ffs(open) - 1;
    }
    return nowhere;
}

// The class that costs least, as cost << color_bits | class; -1 if there is none. By a warp.
__device__ __forceinline__ int best_class(const int* count, const int* stuck, int top) {
    int best = 0x7fffffff;
    for (int k = lane_id(); k < top; k += 32)
        if (count[k] <= at_most) best = min(best, ((stuck[k] * (at_most + 1) + count[k]) << color_bits) | k);
    for (int d = 16; d; d /= 2) best = min(best, __shfl_xor_sync(full_mask, best, d));
    return best == 0x7fffffff ? -1 : best;
}

// kept: the coloring before a class was tried. members: 2 x limit. moves: for each arc of v's row what its neighbor can do:
// -1, not asked; else its color << 16 | the color it can go to, or `nowhere`.
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
emptying(const int* __restrict__ offsets, const int* __restrict__ targets, int n, int* colors, int* kept, int* members,
         int* moves, unsigned* control) {
    DYNAMIC_SHARED(int, shared);
    int* count = shared;  // v's neighbors of each color
    int* stuck = count + most_colors;  // those of them who can go nowhere
    int* mark = stuck + most_colors;
    int* list = mark + most_colors;
    const Queue queue = {list + THREADS, list + THREADS + places, list + THREADS + 2 * places};
    int* found = list + THREADS + 3 * places;
    int* chosen = found + 1;
    const int tid = threadIdx.x, block = blockIdx.x, blocks = gridDim.x;

    int highest = 0;
    for (int v = global_thread(); v < n; v += global_threads()) highest = max(highest, colors[v]);
    for (int d = 16; d; d /= 2) highest = max(highest, __shfl_xor_sync(full_mask, highest, d));
    if (lane_id() == 0) atomicMax(control + TOP, static_cast<unsigned>(highest));
    for (int k = tid; k < most_colors; k += THREADS) mark[k] = 0;
    int stamp = 0;
    grid_barrier(control);
    int top = static_cast<int>(load_relaxed(control + TOP));
    if (top >= most_colors) return;

    for (int turn = 0; top > 0; ++turn, --top) {
        // Who has the highest color, in order of ids.
        int* own = members + (turn & 1) * limit;
        unsigned* size = control + SIZE + (turn & 1);
        for (int v = global_thread(); v < n; v += global_threads()) {
            const int c = load_relaxed(colors + v);
            kept[v] = c;
            if (c != top) continue;
            const int place = static_cast<int>(atomicAdd(size, 1u));
            if (place < limit) store_relaxed(own + place, v);
        }
        grid_barrier(control);
        int head = 0, tail = static_cast<int>(load_relaxed(size));
        if (tail > limit) return;
        if (global_thread() == 0) store_relaxed(control + SIZE + ((turn + 1) & 1), 0u);
        for (int i = tid; i < tail; i += THREADS) {
            const int v = load_relaxed(own + i);
            int place = 0;
            for (int j = 0; j < tail; ++j) place += load_relaxed(own + j) < v;
            queue.who[place] = v;
            queue.from[place] = 0;
            queue.when[place] = -tenure;
        }
        __syncthreads();

        bool works = true;
        for (int step = 0; works && head < tail; ++step) {
            const int v = queue.who[head++], first = offsets[v], degree = offsets[v + 1] - first;
            works = step < limit && degree <= longest_row;
            if (!works) break;

            for (int k = tid; k < top; k += THREADS) count[k] = stuck[k] = 0;
            __syncthreads();
            for (int i = tid; i < degree; i += THREADS) {
                const int c = load_relaxed(colors + targets[first + i]);
                if (c < top) atomicAdd(count + c, 1);
            }
            __syncthreads();
            for (int i = tid; i < tail; i += THREADS)
                if (queue.who[i] == v && queue.when[i] + tenure > step && count[queue.from[i]]) count[queue.from[i]] = at_most + 1;
            __syncthreads();

            // Every block asks its share of the neighbors.
            for (int begin = 0; begin < degree; begin += blocks * THREADS) {
                if (tid == 0) *found = 0;
                __syncthreads();
                const int i = begin + tid * blocks + block;
                if (i < degree) {
                    const int u = targets[first + i], k = load_relaxed(colors + u);
                    const bool asked = k < top && count[k] <= at_most;
                    store_relaxed(moves + i, asked ? k << 16 | nowhere : -1);
                    if (asked && offsets[u + 1] - offsets[u] <= longest_row) list[atomicAdd(found, 1)] = i;
                }
                __syncthreads();
                const int total = *found;
                for (int x = 0; x < total; ++x) {
                    const int u = targets[first + list[x]], last = offsets[u + 1];
                    ++stamp;
                    for (int j = offsets[u] + tid; j < last; j += 4 * THREADS) {
                        int c[4];
                        for (int y = 0; y < 4; ++y) c[y] = targets[min(j + y * THREADS, last - 1)];
                        for (int y = 0; y < 4; ++y) c[y] = load_relaxed(colors + c[y]);
                        for (int y = 0; y < 4; ++y) mark[c[y]] = stamp;
                    }
                    __syncthreads();
                    if (warp_id() == 0) {
                        const int k = load_relaxed(colors + u), d = free_color(mark, stamp, top, k);
                        if (lane_id() == 0) store_relaxed(moves + list[x], k << 16 | d);
                    }
                    __syncthreads();
                }
                __syncthreads();
            }
            grid_barrier(control);

            // All blocks come to the same choice; the first carries it out.
            for (int i = tid; i < degree; i += THREADS) {
                const int move = load_relaxed(moves + i);
                if (move >= 0 && (move & nowhere) == nowhere) atomicAdd(stuck + (move >> 16), 1);
            }
            if (tid == 0) *found = 0;
            __syncthreads();
            if (warp_id() == 0) {
                const int best = best_class(count, stuck, top);
                if (lane_id() == 0) *chosen = best;
            }
            __syncthreads();
            works = *chosen >= 0;
            if (!works) break;
            const int k = *chosen & ((1 << color_bits) - 1);
            for (int i = tid; i < degree; i += THREADS) {
                const int move = load_relaxed(moves + i);
                if (move >> 16 != k) continue;
                const int d = move & nowhere;
                if (block == 0) store_relaxed(colors + targets[first + i], d == nowhere ? top : d);
                if (d == nowhere) list[atomicAdd(found, 1)] = i;
            }
            if (global_thread() == 0) store_relaxed(colors + v, k);
            __syncthreads();
            const int out = *found;
            works = tail + out <= places;
            if (!works) break;
            for (int x = tid; x < out; x += THREADS) {
                int place = tail;
                for (int y = 0; y < out; ++y) place += list[y] < list[x];
                queue.who[place] = targets[first + list[x]];
                queue.from[place] = k;
                queue.when[place] = step;
            }
            tail += out;
            grid_barrier(control);
        }
        if (works) continue;
        grid_barrier(control);
        for (int v = global_thread(); v < n; v += global_threads()) store_relaxed(colors + v, kept[v]);
        return;
    }
}
