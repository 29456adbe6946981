// Small kernels that show what the executors promise: each has one right answer whatever the interleaving, or is wrong
// on purpose so that a test can see it caught.
// compile: ROUNDS=3
#include "device.cuh"

#ifndef ROUNDS
#define ROUNDS 3
#endif

// ---- plain work
extern "C" __global__ void add(const int* __restrict__ a, int* b, int n) {
    const int i = global_thread();
    if (i < n) b[i] += a[i];
}

extern "C" __global__ void positions(unsigned* where, unsigned* lane, unsigned* warp) {
    const unsigned i = global_thread();
    where[i] = blockIdx.x + 100 * blockIdx.y + 10000 * threadIdx.x + 1000000 * threadIdx.y;
    lane[i] = lane_id();
    warp[i] = warp_id();
}

// Counts by a plain read and a plain write: loses counts when another thread comes between.
extern "C" __global__ void histogram_racy(const int* values, unsigned* counts, int n) {
    const int i = global_thread();
    if (i < n) counts[values[i]] = counts[values[i]] + 1;
}

extern "C" __global__ void histogram(const int* values, unsigned* counts, int n) {
    const int i = global_thread();
    if (i < n) atomicAdd(counts + values[i], 1u);
}

// The order in which threads get their tickets is the interleaving itself.
extern "C" __global__ void tickets(unsigned* counter, unsigned* ticket) {
    const unsigned me = global_thread();
    for (int r = 0; r < 4; ++r) ticket[4 * me + r] = atomicAdd(counter, 1u);
}

// ---- blocks
extern "C" __global__ void scan(const int* in, int* out) {
    DYNAMIC_SHARED(unsigned char, memory);
    int* sum = reinterpret_cast<int*>(memory);
    const int t = threadIdx.x, first = blockIdx.x * blockDim.x;
    sum[t] = in[first + t];
    __syncthreads();
    for (int d = 1; d < (int)blockDim.x; d *= 2) {
        const int v = t >= d ? sum[t - d] : 0;
        __syncthreads();
        sum[t] += v;
        __syncthreads();
    }
    out[first + t] = sum[t];
}

extern "C" __global__ void votes_of_block(int* out) {
    const int t = threadIdx.x;
    const int count = __syncthreads_count(t % 3 == 0);
    const int some = __syncthreads_or(t == 5);
    const int all = __syncthreads_and(t != 5);
    if (t == 0) {
        out[0] = count;
        out[1] = some != 0;
        out[2] = all != 0;
    }
}

extern "C" __global__ void fill_shared(unsigned* out, int bytes) {
    DYNAMIC_SHARED(unsigned char, memory);
    for (int i = threadIdx.x; i < bytes; i += blockDim.x) memory[i] = (unsigned char)(i + blockIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int i = 0; i < bytes; ++i) sum += memory[i];
        out[blockIdx.x] = sum;
    }
}

extern "C" __global__ void uninitialized_shared(int* out) {
    DYNAMIC_SHARED(unsigned char, memory);
    out[threadIdx.x] = reinterpret_cast<int*>(memory)[threadIdx.x];
}

// ---- warps
extern "C" __global__ void warps(const int* in, int* sums, unsigned* votes, int* moved) {
    const int i = global_thread();
    int v = in[i];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(full_mask, v, d);
    sums[i] = v;
    const unsigned odd = __ballot_sync(full_mask, in[i] & 1);
    const unsigned same = __match_any_sync(full_mask, in[i] % 4);
    votes[4 * i] = odd;
    votes[4 * i + 1] = same;
    votes[4 * i + 2] = __any_sync(full_mask, in[i] == 7) != 0;
    votes[4 * i + 3] = __all_sync(full_mask, in[i] >= 0) != 0;
    moved[4 * i] = __shfl_sync(full_mask, in[i], 3);
    moved[4 * i + 1] = __shfl_up_sync(full_mask, in[i], 1);
    moved[4 * i + 2] = __shfl_down_sync(full_mask, in[i], 2, 8);
    moved[4 * i + 3] = __shfl_sync(full_mask, in[i], 1, 4);
}

// Half a warp works on its own; the other half does something else meanwhile.
extern "C" __global__ void half_warps(int* out) {
    const unsigned lane = lane_id();
    const unsigned mask = lane < 16 ? 0xffffu : 0xffff0000u;
    int v = lane;
    if (lane < 16) {
        for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d);
    } else {
        for (int d = 8; d > 0; d /= 2) v = max(v, __shfl_xor_sync(mask, v, d));
    }
    __syncwarp();
    out[threadIdx.x] = v;
}

// ---- grids
// Every block writes, all meet, every block reads all: wrong if one comes early through the barrier.
extern "C" __global__ void rounds(unsigned* state, int* cells, int* wrong) {
    for (int r = 1; r <= ROUNDS; ++r) {
        if (threadIdx.x == 0) store_relaxed(cells + blockIdx.x, r);
        grid_barrier(state);
        for (int b = threadIdx.x; b < (int)gridDim.x; b += blockDim.x)
            if (load_relaxed(cells + b) != r) atomicAdd(wrong, 1);
        grid_barrier(state);
    }
}

extern "C" __global__ void all_but(unsigned* state, int* out, int missing) {  // one block never arrives
    if ((int)blockIdx.x == missing) return;
    grid_barrier(state);
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}

extern "C" __global__ void chain(int* flags) {  // block b waits for block b - 1, or b + 1 if there is no way back
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0)
            while (load_acquire(flags + blockIdx.x - 1) == 0) {}
        store_release(flags + blockIdx.x, 1);
    }
}

extern "C" __global__ void wait_for_later(int* flags) {
    if (threadIdx.x == 0) {
        if (blockIdx.x + 1 < gridDim.x)
            while (load_acquire(flags + blockIdx.x + 1) == 0) {}
        store_release(flags + blockIdx.x, 1);
    }
}

// ---- locks and atomics
extern "C" __global__ void locked(unsigned* lock, int* value) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0u, 1u) == 0u) {
            __threadfence();
            store_relaxed(value, load_relaxed(value) + 1);
            __threadfence();
            atomicExch(lock, 0u);
            done = true;
        }
    }
}

extern "C" __global__ void all_atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
    DYNAMIC_SHARED(unsigned char, memory);
    int* local = reinterpret_cast<int*>(memory);
    const int t = global_thread();
    if (threadIdx.x == 0) local[0] = 0;
    __syncthreads();
    atomicAdd(local, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(i, local[0]);
    atomicSub(i + 1, 2);
    atomicMin(i + 2, -t);
    atomicMax(i + 3, t);
    atomicAnd(u, ~(1u << (t & 31)));
    atomicOr(u + 1, 1u << (t & 31));
    atomicXor(u + 2, (unsigned)t);
    atomicInc(u + 3, 9u);
    atomicAdd(l, 1ull << 33);
    atomicMax(l + 1, (unsigned long long)t);
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicExch(i + 4, 7);
    atomicCAS(u + 4, 0u, 5u);
}

extern "C" __global__ void bits(const unsigned* in, int* out) {
    const unsigned v = in[threadIdx.x];
    int* row = out + 8 * threadIdx.x;
    row[0] = __popc(v);
    row[1] = __clz((int)v);
    row[2] = __ffs((int)v);
    row[3] = (int)__brev(v);
    row[4] = __float_as_int(__int_as_float((int)v) );
    row[5] = (int)__umulhi(v, 0x80000001u);
    row[6] = min((int)v, 5);
    row[7] = (int)max(v, 5u);
}

extern "C" __global__ void vectors(const int4* in, int4* out, float2* pairs) {
    const int4 v = in[threadIdx.x];
    out[threadIdx.x] = make_int4(v.w, v.z, v.y, v.x);
    pairs[threadIdx.x] = make_float2((float)v.x, 0.5f);
}

// ---- wrong on purpose
extern "C" __global__ void divergent(int* out) {
    if (threadIdx.x < 3) __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void divergent_places(int* out) {
    if (threadIdx.x & 1) {
        __syncthreads();
    } else {
        out[threadIdx.x] = 1;
        __syncthreads();
    }
}

extern "C" __global__ void barrier_and_warp(int* out) {
    if (threadIdx.x == 0) __syncthreads();
    else out[threadIdx.x] = __shfl_sync(full_mask, 1, 0);
    __syncthreads();
}

extern "C" __global__ void deadlock(int* out) {
    out[threadIdx.x] = lane_id() < 16 ? __shfl_sync(full_mask, 1, 0) : (int)__ballot_sync(full_mask, 1);
}

extern "C" __global__ void livelock(unsigned* flag) {
    while (atomicAdd(flag, 0u) == 0u) pause(10);
}

extern "C" __global__ void counting(unsigned* n, unsigned last) {  // thread 0 counts, the others wait for the end
    if (threadIdx.x == 0) for (unsigned k = 1; k <= last; ++k) { store_release(n, k); pause(10); }
    else while (load_acquire(n) < last) pause(10);
}

extern "C" __global__ void back_and_forth(unsigned* flag, unsigned* lock) {  // values change for ever, to no end
    while (load_acquire(flag) == 0u) { atomicExch(lock, 1u); atomicExch(lock, 0u); }
}

extern "C" __global__ void out_of_bounds(int* out) { out[(long long)1 << 40] = 1; }

extern "C" __global__ void deep(int* out, int depth) {  // more of its own variables than a stack holds
    volatile char room[1 << 18];
    for (int i = 0; i < depth; ++i) room[i * 1000] = (char)i;
    for (int i = 0; i < depth; ++i) out[0] += room[i * 1000];
}

// ---- a trace
extern "C" __global__ void increment_twice(int* value) {
    for (int r = 0; r < 2; ++r) {
        trace_event(r, threadIdx.x, value[0]);
        value[0] = value[0] + 1;
    }
}

extern "C" __global__ void stop_watch(long long* ticks) {
    const long long begin = clock64();
    atomicAdd(reinterpret_cast<unsigned long long*>(ticks + 1), 1ull);
    ticks[0] = clock64() - begin;
}
