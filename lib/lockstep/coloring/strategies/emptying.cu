// Reduces the colors of a finished coloring: empties its highest color class, then the next, until one fails.
//
// Greedy coloring ends with classes of a handful of vertices, each with a neighbor of every lower color. Such a vertex
// v can still take color k if its few neighbors of color k take other colors. A step dequeues one v and evaluates all
// classes. It selects the class with the fewest neighbors of v that have no other color free; ties go to fewer
// neighbors of v, then to the lower color. Excluded are classes with more than `most_conflicts` neighbors of v, with
// a neighbor of degree above `longest_row`, or with neighbors of v and left by it less than `tenure` steps ago. A
// neighbor without a free color is uncolored (color `top`) and enqueued. Vertices of degree above `longest_row` are
// never moved: they rarely have a free color, and coloring one would uncolor many.
//
// A class of up to most_members is given min(most_steps, base_steps + steps_per_member * members) steps. The coloring
// is restored and the kernel ends if the queue is not empty by then or overflows, if no class can be selected, or if
// the dequeued vertex has a degree above longest_row; it also ends at a larger class. Never more colors than before.
// A class that can be emptied mostly takes about one step per member; the budget bounds the time spent on one that
// cannot, such as the last vertex of a clique.
//
// The result is deterministic: the queue, the selected class and the new colors of v's neighbors in it (the smallest
// free one each; being of one color, none are adjacent) follow from the graph and the coloring alone.
//
// One cooperative launch. Each block keeps its own queue and counts of v's neighbors: every block reads v's row, but a
// barrier is saved. The neighbors' rows, most of the work, are distributed over the blocks. Two grid barriers per step.
//
// References: A. Hertz, D. de Werra, "Using tabu search techniques for graph coloring", Computing 39 (1987). I.
// Bloechliger, N. Zufferey, "A graph coloring heuristic using partial solutions and a reactive tabu scheme", Computers
// & Operations Research 35 (2008); here the tenure is fixed. Another color reduction on a GPU: G. Alabandi, M.
// Burtscher, "Improving the speed and quality of parallel graph coloring", ACM Trans. Parallel Computing 9 (2022).
//
// compile: THREADS=128,256,512,1024
#include "device.cuh"

constexpr int most_colors = 1024;    // a coloring with more is left unchanged; at most 2^color_bits
constexpr int color_bits = 10;
constexpr int most_members = 64;     // most members of a class to be emptied
constexpr int most_steps = most_members;  // most steps for a class
constexpr int base_steps = 4;        // steps for a class,
constexpr int steps_per_member = 2;  // plus steps for each member
constexpr int most_conflicts = 8;    // most neighbors of v in a candidate class
constexpr int longest_row = 4096;    // largest degree of a recolored vertex
constexpr int tenure = 10;           // tabu tenure: steps until an uncolored vertex may displace members of its class
constexpr int queue_capacity = 512;  // entries are not reused
constexpr int no_free_color = 0xffff, immovable = 0xfffe;
// Words of `control`: 0: grid barrier; TOP: highest color; SIZE, SIZE + 1: members of a class, alternating.
enum { TOP = 1, SIZE = 2 };

struct Queue {  // in shared memory: vertex, the class that it left, the step in which it was uncolored
    int *vertex, *old_class, *uncolored_step;
};

// Returns the smallest color below top, except k, whose mark is not `stamp`, or `no_free_color`. Called by one warp.
__device__ __forceinline__ int free_color(const int* mark, int stamp, int top, int k) {
    for (int base = 0; base < top; base += 32) {
        const int color = base + lane_id();
        const unsigned free_mask = __ballot_sync(full_mask, color < top && color != k && mark[color] != stamp);
        if (free_mask) return base + __ffs(free_mask) - 1;
    }
    return no_free_color;
}

// Returns the cheapest class as cost << color_bits | class, or -1. Called by one warp.
__device__ __forceinline__ int best_class(const int* count, const int* stuck, int top) {
    int best = 0x7fffffff;
    for (int k = lane_id(); k < top; k += 32)
        if (count[k] <= most_conflicts)
            best = min(best, ((stuck[k] * (most_conflicts + 1) + count[k]) << color_bits) | k);
    for (int d = 16; d; d /= 2) best = min(best, __shfl_xor_sync(full_mask, best, d));
    return best == 0x7fffffff ? -1 : best;
}

// kept: the coloring before the current class. members: 2 x most_members. moves: longest_row; for each candidate
// neighbor its free color, `no_free_color`, or `immovable`.
extern "C" __global__ void __launch_bounds__(THREADS, 1024 / THREADS)
emptying(const int* __restrict__ offsets, const int* __restrict__ targets, int n, int* colors, int* kept, int* members,
         int* moves, unsigned* control) {
    DYNAMIC_SHARED(int, shared);
    int* count = shared;  // v's neighbors of each color
    int* stuck = count + most_colors;  // of these, those without another free color
    int* mark = stuck + most_colors;   // by color: stamp of the last candidate that has a neighbor of that color
    const Queue queue =
        {mark + most_colors, mark + most_colors + queue_capacity, mark + most_colors + 2 * queue_capacity};
    int* uncolored = queue.uncolored_step + queue_capacity;  // [most_conflicts] arcs of v to neighbors to be uncolored
    int* warp_counts = uncolored + most_conflicts;           // candidates of each warp
    int* uncolored_count = warp_counts + THREADS / 32;
    int* chosen = uncolored_count + 1;
    // [longest_row] colors of v's neighbors, clamped to top
    unsigned short* neighbor_color = reinterpret_cast<unsigned short*>(chosen + 1);
    // [longest_row] arcs of v to its candidates: neighbors in a class that is not excluded (so far)
    unsigned short* candidates = neighbor_color + longest_row;
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

    for (int round = 0; top > 0; ++round, --top) {
        // The vertices of the highest color, by id.
        int* class_members = members + (round & 1) * most_members;
        unsigned* size = control + SIZE + (round & 1);
        for (int v = global_thread(); v < n; v += global_threads()) {
            const int c = load_relaxed(colors + v);
            kept[v] = c;
            if (c != top) continue;
            const int place = static_cast<int>(atomicAdd(size, 1u));
            if (place < most_members) store_relaxed(class_members + place, v);
        }
        grid_barrier(control);
        int head = 0, tail = static_cast<int>(load_relaxed(size));
        if (tail > most_members) return;
        const int steps = min(most_steps, base_steps + steps_per_member * tail);
        if (global_thread() == 0) store_relaxed(control + SIZE + ((round + 1) & 1), 0u);
        for (int i = tid; i < tail; i += THREADS) {
            const int v = load_relaxed(class_members + i);
            int place = 0;
            for (int j = 0; j < tail; ++j) place += load_relaxed(class_members + j) < v;
            queue.vertex[place] = v;
            queue.old_class[place] = 0;
            queue.uncolored_step[place] = -tenure;
        }
        __syncthreads();

        bool feasible = true;
        for (int step = 0; feasible && head < tail; ++step) {
            const int v = queue.vertex[head++], first = offsets[v], degree = offsets[v + 1] - first;
            feasible = step < steps && degree <= longest_row;
            if (!feasible) break;

            for (int k = tid; k < top; k += THREADS) count[k] = stuck[k] = 0;
            __syncthreads();
            for (int i = tid; i < degree; i += 4 * THREADS) {
                int c[4];
                for (int y = 0; y < 4; ++y) c[y] = targets[first + min(i + y * THREADS, degree - 1)];
                for (int y = 0; y < 4; ++y) c[y] = load_relaxed(colors + c[y]);
                for (int y = 0; y < 4 && i + y * THREADS < degree; ++y) {
                    neighbor_color[i + y * THREADS] = static_cast<unsigned short>(min(c[y], top));
                    if (c[y] < top) atomicAdd(count + c[y], 1);
                }
            }
            __syncthreads();
            for (int i = tid; i < tail; i += THREADS)
                if (queue.vertex[i] == v && queue.uncolored_step[i] + tenure > step && count[queue.old_class[i]])
                    count[queue.old_class[i]] = most_conflicts + 1;
            __syncthreads();

            // The candidates, the same list in every block, distributed cyclically over the blocks.
            int total = 0;
            for (int begin = 0; begin < degree; begin += THREADS) {
                const int i = begin + tid;
                const bool candidate =
                    i < degree && neighbor_color[i] < top && count[neighbor_color[i]] <= most_conflicts;
                const unsigned votes = __ballot_sync(full_mask, candidate);
                if (lane_id() == 0) warp_counts[warp_id()] = __popc(votes);
                __syncthreads();
                int place = total;
                for (int w = 0; w < THREADS / 32; ++w) {
                    if (w == static_cast<int>(warp_id())) place = total;
                    total += warp_counts[w];
                }
                if (candidate)
                    candidates[place + rank_in(votes)] = static_cast<unsigned short>(i);
                __syncthreads();
            }
            for (int x = block; x < total; x += blocks) {
                const int u = targets[first + candidates[x]], k = neighbor_color[candidates[x]], begin = offsets[u],
                    last = offsets[u + 1];
                const bool too_long = last - begin > longest_row;
                ++stamp;
                for (int j = begin + tid; !too_long && j < last; j += 4 * THREADS) {
                    int c[4];
                    for (int y = 0; y < 4; ++y) c[y] = targets[min(j + y * THREADS, last - 1)];
                    for (int y = 0; y < 4; ++y) c[y] = load_relaxed(colors + c[y]);
                    for (int y = 0; y < 4; ++y) mark[c[y]] = stamp;
                }
                __syncthreads();
                if (warp_id() == 0) {
                    const int d = too_long ? immovable : free_color(mark, stamp, top, k);
                    if (lane_id() == 0) store_relaxed(moves + x, d);
                }
                __syncthreads();
            }
            grid_barrier(control);

            // All blocks compute the same choice; block 0 writes it.
            for (int x = tid; x < total; x += THREADS) {
                const int d = load_relaxed(moves + x);
                if (d == no_free_color) atomicAdd(stuck + neighbor_color[candidates[x]], 1);
                // excludes the class
                if (d == immovable) atomicAdd(count + neighbor_color[candidates[x]], most_conflicts + 1);
            }
            if (tid == 0) *uncolored_count = 0;
            __syncthreads();
            if (warp_id() == 0) {
                const int best = best_class(count, stuck, top);
                if (lane_id() == 0) *chosen = best;
            }
            __syncthreads();
            feasible = *chosen >= 0;
            if (!feasible) break;
            const int k = *chosen & ((1 << color_bits) - 1);
            for (int x = tid; x < total; x += THREADS) {
                if (neighbor_color[candidates[x]] != k) continue;
                const int u = targets[first + candidates[x]], d = load_relaxed(moves + x);
                if (block == 0) store_relaxed(colors + u, d == no_free_color ? top : d);
                if (d == no_free_color) uncolored[atomicAdd(uncolored_count, 1)] = candidates[x];
            }
            if (global_thread() == 0) store_relaxed(colors + v, k);
            __syncthreads();
            const int added = *uncolored_count;
            feasible = tail + added <= queue_capacity;
            if (!feasible) break;
            for (int x = tid; x < added; x += THREADS) {
                int place = tail;
                for (int y = 0; y < added; ++y) place += uncolored[y] < uncolored[x];
                queue.vertex[place] = targets[first + uncolored[x]];
                queue.old_class[place] = k;
                queue.uncolored_step[place] = step;
            }
            tail += added;
            grid_barrier(control);
        }
        if (feasible) continue;
        grid_barrier(control);
        for (int v = global_thread(); v < n; v += global_threads()) store_relaxed(colors + v, kept[v]);
        return;
    }
}
