// Converts the integer sums of a measure to floating-point values, and computes each graph's checksum.
//
// A warp takes a graph. The checksum covers the integers, before any scaling, so that it can be compared exactly.
//
// compile:
#include "pack.cuh"

#ifndef MATRIX
#define MATRIX short
#endif

// values[v] = fixed[v] * 2^-fraction * factor.
extern "C" __global__ void finish_fixed(const long long* __restrict__ vertex_start, int graphs,
                                        const u64* __restrict__ fixed, double factor, double* values, u64* checksums) {
    const int lane = lane_id();
    for (int graph = global_thread() >> 5; graph < graphs; graph += global_threads() >> 5) {
        const long long first = vertex_start[graph];
        const int n = (int)(vertex_start[graph + 1] - first);
        const double scale = factor / (double)(1LL << fraction_bits(n));
        u64 sum = 0;
        for (int v = lane; v < n; v += 32) {
            const u64 word = fixed[first + v];
            values[first + v] = word & OVERFLOWED ? __longlong_as_double(0x7ff8000000000000LL) : (double)word * scale;
            sum += checksum_term(v, word);
        }
        for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(full_mask, sum, o);
        if (lane == 0) checksums[graph] = sum;
    }
}

// Sums row v of one graph's matrix: integer distances, below 0 not reachable. A warp takes a row.
extern "C" __global__ void sum_rows(int n, const MATRIX* __restrict__ matrix, u64* total, u64* reciprocal,
                                    unsigned* reach) {
    const int lane = lane_id();
    for (int v = global_thread() >> 5; v < n; v += global_threads() >> 5) {
        u64 sum = 0, parts = 0;
        unsigned found = 0;
        for (int t = lane; t < n; t += 32) {
            const int d = (int)matrix[(long long)v * n + t];
            if (d <= 0) continue;
            sum += d;
            parts += (1ull << 40) / (unsigned)d;
            ++found;
        }
        for (int o = 16; o; o >>= 1) {
            sum += __shfl_xor_sync(full_mask, sum, o);
            parts += __shfl_xor_sync(full_mask, parts, o);
            found += __shfl_xor_sync(full_mask, found, o);
        }
        if (lane == 0) {
            total[v] = sum;
            reciprocal[v] = parts;
            reach[v] = found;
        }
    }
}

// Closeness from sums of distances. form 0: NetworkX's, (reach / total), and with wf_improved times reach / (n - 1); 1:
// the paper's first equation, 1 / total; 2: its second, the sum of reciprocals. reach excludes the vertex itself.
extern "C" __global__ void finish_closeness(const long long* __restrict__ vertex_start, int graphs,
                                            const u64* __restrict__ total, const u64* __restrict__ reciprocal,
                                            const unsigned* __restrict__ reach, int form, int improved, double* values,
                                            u64* checksums) {
    const int lane = lane_id();
    for (int graph = global_thread() >> 5; graph < graphs; graph += global_threads() >> 5) {
        const long long first = vertex_start[graph];
        const int n = (int)(vertex_start[graph + 1] - first);
        u64 sum = 0;
        for (int v = lane; v < n; v += 32) {
            const u64 far = total[first + v], parts = reciprocal[first + v];
            const unsigned count = reach[first + v];
            double value = 0;
            if (form == 2) {
                value = (double)parts / (double)(1ull << 40);
            } else if (far) {
                value = (form == 1 ? 1.0 : (double)count) / (double)far;
                if (form == 0 && improved) value = __dmul_rn(value, (double)count / (double)(n - 1));
            }
            values[first + v] = value;
            sum += checksum_term(v, far) + checksum_term(v, parts ^ 0x5555555555555555ull) + checksum_term(v,
                                                                                                           ~(u64)count);
        }
        for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(full_mask, sum, o);
        if (lane == 0) checksums[graph] = sum;
    }
}
