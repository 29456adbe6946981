// Degree classes and hashes for the coloring kernels' priorities.

constexpr int degree_classes = 256;

// Degrees below 32 have a class each; above, 16 classes per power of two. Degrees from about 2^19 on share class 255.
__device__ __forceinline__ int degree_class(int degree) {
    if (degree < 32) return degree;
    const int octave = 31 - __clz(degree);
    return min(32 + (octave - 5) * 16 + ((degree >> (octave - 4)) & 15), degree_classes - 1);
}

// A bijection on 32 bits, so that hashes are distinct: lowbias32 (C. Wellons) without its last xorshift, which changes
// only the low 16 bits and so hardly any comparison.
__device__ __forceinline__ unsigned hash32(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x * 0x846ca68bu;
}
__device__ __forceinline__ unsigned priority_hash(int v, unsigned seed) {
    return hash32(static_cast<unsigned>(v) ^ seed);
}
