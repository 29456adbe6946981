// Reduces distance matrices: each row's sum, largest entry and number of finite entries, without the diagonal, and the
// checksum of the whole matrix. A warp takes a row.
//
// compile: ENTRY=short,int,double
#include "pack.cuh"

__device__ __forceinline__ u64 bits_of(short d) { return (u64)(long long)d; }
__device__ __forceinline__ u64 bits_of(int d) { return (u64)(long long)d; }
__device__ __forceinline__ u64 bits_of(double d) { return (u64)__double_as_longlong(d); }

// The graphs are a range of the pack, with which the arrays begin. reciprocal: null if not wanted. checksums: zero
// before. An entry below 0: not reachable. Lengths in double are summed in a fixed order.
extern "C" __global__ void reduce_rows(const long long* __restrict__ vertex_start, int graphs,
                                       const long long* __restrict__ matrix_start, const ENTRY* __restrict__ matrix,
                                       double* total, double* largest, unsigned* reach, double* reciprocal,
                                       u64* checksums) {
    const int lane = lane_id(), warps = global_threads() >> 5;
    const long long all = vertex_start[graphs] - vertex_start[0];
    int graph = 0;
    for (long long i = global_thread() >> 5; i < all; i += warps) {
        // The graph of row i: the last whose first vertex is not after it.
        int low = graph, high = graphs - 1;
        while (low < high) {
            const int middle = (low + high + 1) >> 1;
            if (vertex_start[middle] - vertex_start[0] <= i) low = middle;
            else high = middle - 1;
        }
        graph = low;
        const long long first = vertex_start[graph] - vertex_start[0];
        const int n = (int)(vertex_start[graph + 1] - vertex_start[graph]), v = (int)(i - first);
        const ENTRY* const row = matrix + matrix_start[graph] + (long long)v * n;
        double sum = 0, most = 0, parts = 0;
        unsigned found = 0;
        u64 check = 0;
        for (int t = lane; t < n; t += 32) {
            const ENTRY d = row[t];
            if (d >= 0 && t != v) {
                sum += (double)d;
                most = d > most ? (double)d : most;
                if (reciprocal != nullptr) parts += 1.0 / (double)d;
                ++found;
            }
            check += checksum_term((u64)v * n + t, bits_of(d));
        }
        for (int o = 16; o; o >>= 1) {
            sum += __shfl_xor_sync(full_mask, sum, o);
            parts += __shfl_xor_sync(full_mask, parts, o);
            const double other = __shfl_xor_sync(full_mask, most, o);
            most = other > most ? other : most;
            found += __shfl_xor_sync(full_mask, found, o);
            check += __shfl_xor_sync(full_mask, check, o);
        }
        if (lane == 0) {
            total[i] = sum;
            largest[i] = most;
            reach[i] = found;
            if (reciprocal != nullptr) reciprocal[i] = parts;
            atomicAdd(&checksums[graph], check);
        }
    }
}
