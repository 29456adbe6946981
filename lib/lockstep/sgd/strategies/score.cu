// The sum of squared errors of a factorization over a list of ratings, for the root mean square error. A group takes an
// edge; sums are kept in double precision and added once a warp.
// compile: K=16 LANES=4 HALF=0,1
// compile: K=16 LANES=4 LOCK_DELAY=100,1000,10000
// compile: K=16 LANES=4 BARRIER_DELAY=1000,10000,100000
// compile: K=32 LANES=8 HALF=0,1
// compile: K=64 LANES=8,16 HALF=0,1
#include "update.cuh"

extern "C" __global__ void squared_error(int count, const int* users, const int* items, const float* values,
                                         const Stored* user_vectors, const Stored* item_vectors, double* total) {
    const int worker = global_thread() / LANES, workers = global_threads() / LANES;
    double sum = 0;
    for (int e = worker; e < count; e += workers) {
        const Vector user = load(user_vectors, users[e]), item = load(item_vectors, items[e]);
        const double error = (double)values[e] - (double)dot(user, item, group_mask());
        if (lane_in_group() == 0) sum += error * error;
    }
    sum = warp_sum(sum);
    if (lane_id() == 0) atomicAdd(total, sum);
}
