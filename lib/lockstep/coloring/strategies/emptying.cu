// Takes colors away from a finished coloring: empties its highest class, then the next, as long as that works.
//
// Greedy loops end with classes of a handful of vertices, each of which met a neighbor of every color before. Such a
// vertex v can take color k all the same if its few neighbors of color k take other colors. A step takes one v from a
// queue and looks at all classes at once. It selects the class with the fewest neighbors of v that have no other color
// free; ties go to fewer neighbors of v, then to the lower color. Classes with more than `at_most` neighbors of v, with
// one of more than `longest_row` neighbors, or that v left less than `tenure` steps ago are left out. A neighbor
// without a free color is uncolored (color `top`) and appended to the queue. Vertices of more than `longest_row`
// neighbors are never moved: they rarely have a free color, and coloring one would uncolor many.
//
// A class is given min(limit, spare + each * members) steps. If its queue is not empty then, if no class can be
// selected, or if the queue is full, the coloring is restored and the kernel ends: never more colors than before. A
// class that can be emptied mostly takes about a step for each member; the budget bounds the time spent on one that
// cannot, such as the one vertex too many of a clique.
//
// Nothing depends on the interleaving: the queue, the selected class and the colors of the neighbors that are moved
// (the smallest free one each; none are adjacent, being of one color) follow from the graph and the coloring alone.
//
// One cooperative launch. Every block keeps the queue and the count of v's neighbors for itself, which costs a row and
// spares a barrier; the neighbors' own rows, which are most of the work, are shared out among blocks. Two barriers a
// step.
//
// References: A. Hertz, D. de Werra, "Using tabu search techniques for graph coloring", Computing 39 (1987). I.
// Bloechliger, N. Zufferey, "A graph coloring heuristic using partial solutions and a reactive tabu scheme", Computers
// & Operations Research 35 (2008), of which this is a short and unreactive form. Another way to fewer colors on a GPU:
// G. Alabandi, M. Burtscher, "Improving the speed and quality of parallel graph coloring", ACM Trans. Parallel
// Computing 9 (2022).
//
// compile: THREADS=512
#include "device.cuh"

constexpr int most_colors = 1024;  // a coloring with more is left as it is; not above 2^color_bits
constexpr int color_bits = 10;
constexpr int limit = 64;          // members of a class that is tried, and steps at most
constexpr int spare = 4;           // steps that a class is given,
constexpr int each = 2;            // and those for each of its members
constexpr int at_most = 8;         // neighbors of v in a class that is considered
constexpr int longest_row = 4096;  // vertices of more neighbors keep their color
constexpr int tenure = 10;         // steps for which an uncolored vertex does not return to its class (tabu tenure)
constexpr int places = 512;        // of the queue, none used twice
constexpr int nowhere = 0xffff, stays = 0xfffe;
// Words of `control`: 0 the grid barrier's, then the highest color, then the members of a class, in turns.
enum { TOP = 1, SIZE = 2 };

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

// kept: the coloring before a class was tried. members: 2 x limit. moves: longest_row; for each who is asked the color
// that it can go to, `nowhere`, or `stays`.
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
emptying(const int* __restrict__ offsets, const int* __restrict__ targets, int n, int* colors, int* kept, int* members,
         int* moves, unsigned* control) {
    DYNAMIC_SHARED(int, shared);
    int* count = shared;  // v's neighbors of each color
    int* stuck = count + most_colors;  // those of them who can go nowhere
    int* mark = stuck + most_colors;
    const Queue queue = {mark + most_colors, mark + most_colors + places, mark + most_colors + 2 * places};
    int* out = queue.when + places;   // at_most: arcs of v to those who are driven out
    int* sums = out + at_most;        // a warp each
    int* found = sums + THREADS / 32;
    int* chosen = found + 1;
    // longest_row: colors along v's row, at most top
    unsigned short* its = reinterpret_cast<unsigned short*>(chosen + 1);
    // longest_row: arcs of v to those who are asked
    unsigned short* list = its + longest_row;
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
        const int steps = min(limit, spare + each * tail);
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
            works = step < steps && degree <= longest_row;
            if (!works) break;

            for (int k = tid; k < top; k += THREADS) count[k] = stuck[k] = 0;
            __syncthreads();
            for (int i = tid; i < degree; i += 4 * THREADS) {
                int c[4];
                for (int y = 0; y < 4; ++y) c[y] = targets[first + min(i + y * THREADS, degree - 1)];
                for (int y = 0; y < 4; ++y) c[y] = load_relaxed(colors + c[y]);
                for (int y = 0; y < 4 && i + y * THREADS < degree; ++y) {
                    its[i + y * THREADS] = static_cast<unsigned short>(min(c[y], top));
                    if (c[y] < top) atomicAdd(count + c[y], 1);
                }
            }
            __syncthreads();
            for (int i = tid; i < tail; i += THREADS)
                if (queue.who[i] == v && queue.when[i] + tenure > step && count[queue.from[i]])
                    count[queue.from[i]] = at_most + 1;
            __syncthreads();

            // The candidates, the same list in every block; then the blocks take them in turn.
            int total = 0;
            for (int begin = 0; begin < degree; begin += THREADS) {
                const int i = begin + tid;
                const bool asked = i < degree && its[i] < top && count[its[i]] <= at_most;
                const unsigned votes = __ballot_sync(full_mask, asked);
                if (lane_id() == 0) sums[warp_id()] = __popc(votes);
                __syncthreads();
                int place = total;
                for (int w = 0; w < THREADS / 32; ++w) {
                    if (w == static_cast<int>(warp_id())) place = total;
                    total += sums[w];
                }
                if (asked) list[place + __popc(votes & ((1u << lane_id()) - 1))] = static_cast<unsigned short>(i);
                __syncthreads();
            }
            for (int x = block; x < total; x += blocks) {
                const int u = targets[first + list[x]], k = its[list[x]], begin = offsets[u], last = offsets[u + 1];
                const bool settled = last - begin > longest_row;
                ++stamp;
                for (int j = begin + tid; !settled && j < last; j += 4 * THREADS) {
                    int c[4];
                    for (int y = 0; y < 4; ++y) c[y] = targets[min(j + y * THREADS, last - 1)];
                    for (int y = 0; y < 4; ++y) c[y] = load_relaxed(colors + c[y]);
                    for (int y = 0; y < 4; ++y) mark[c[y]] = stamp;
                }
                __syncthreads();
                if (warp_id() == 0) {
                    const int d = settled ? stays : free_color(mark, stamp, top, k);
                    if (lane_id() == 0) store_relaxed(moves + x, d);
                }
                __syncthreads();
            }
            grid_barrier(control);

            // All blocks come to the same choice; the first carries it out.
            for (int x = tid; x < total; x += THREADS) {
                const int d = load_relaxed(moves + x);
                if (d == nowhere) atomicAdd(stuck + its[list[x]], 1);
                if (d == stays) atomicAdd(count + its[list[x]], at_most + 1);  // not this class, then
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
            for (int x = tid; x < total; x += THREADS) {
                if (its[list[x]] != k) continue;
                const int u = targets[first + list[x]], d = load_relaxed(moves + x);
                if (block == 0) store_relaxed(colors + u, d == nowhere ? top : d);
                if (d == nowhere) out[atomicAdd(found, 1)] = list[x];
            }
            if (global_thread() == 0) store_relaxed(colors + v, k);
            __syncthreads();
            const int more = *found;
            works = tail + more <= places;
            if (!works) break;
            for (int x = tid; x < more; x += THREADS) {
                int place = tail;
                for (int y = 0; y < more; ++y) place += out[y] < out[x];
                queue.who[place] = targets[first + out[x]];
                queue.from[place] = k;
                queue.when[place] = step;
            }
            tail += more;
            grid_barrier(control);
        }
        if (works) continue;
        grid_barrier(control);
        for (int v = global_thread(); v < n; v += global_threads()) store_relaxed(colors + v, kept[v]);
        return;
    }
}
