// Who goes first: what the kernels of this study share.

constexpr int full_classes = 256;

// Degrees below 32 are a class each; above, there are 16 classes an octave, so that a byte holds every class.
__device__ __forceinline__ int degree_class(int degree) {
    if (degree < 32) return degree;
    const int octave = 31 - __clz(degree);
    return min(32 + (octave - 5) * 16 + ((degree >> (octave - 4)) & 15), full_classes - 1);
}

// A bijection of 32 bits (the finalizer of a well-tested integer hash): no two vertices draw the same number.
__device__ __forceinline__ unsigned mix(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}
__device__ __forceinline__ unsigned draw(int v, unsigned seed) { return mix(static_cast<unsigned>(v) ^ seed); }
