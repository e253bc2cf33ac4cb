/*---
launches: [{kernel: copy_jobs, grid: [1], block: [256], args: []}]
options: ["-ffp-contract=off"]
---*/
// The harness's own kernels: they place data, and say whether what a kernel left there is right.
// Each does many jobs of its kind in one launch: blockIdx.y says which.

typedef unsigned long long Word;
typedef unsigned char Byte;

enum { FLOAT32, FLOAT16, BFLOAT16, FLOAT8, INT32 };
enum { ERROR, WRONG, CHANGED, BEYOND, ULP, FIELDS }; // a slot of results; two sums of squares

struct Job {
    Byte* to;         // or what was found
    const Byte* from; // or what it should be
    long long count;  // bytes, or elements
    long long shift;
    long long key;
    double rtol, atol;
    Word* slot;
};

union Bits {
    Word word;
    long long integer;
    double real;
};
union ShortBits {
    unsigned word;
    float real;
};

__device__ double real(Word word) {
    Bits bits;
    bits.word = word;
    return bits.real;
}

__device__ long long first() { return (long long)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ long long stride() { return (long long)gridDim.x * blockDim.x; }

// Bytes before the first whole word of both, or all of them where they never are whole together.
__device__ long long head(const Byte* a, const Byte* b, long long nbytes) {
    long long skew = (size_t)a & 7;
    if (skew != (long long)((size_t)b & 7)) return nbytes;
    long long bytes = (8 - skew) & 7;
    return bytes < nbytes ? bytes : nbytes;
}

__global__ void copy_jobs(const Job* jobs) {
    Byte* to = jobs[blockIdx.y].to;
    const Byte* from = jobs[blockIdx.y].from;
    long long nbytes = jobs[blockIdx.y].count;
    long long begin = head(to, from, nbytes), words = (nbytes - begin) / 8;
    for (long long i = first(); i < words; i += stride())
        ((Word*)(to + begin))[i] = ((const Word*)(from + begin))[i];
    for (long long i = first(); i < begin; i += stride()) to[i] = from[i];
    for (long long i = begin + 8 * words + first(); i < nbytes; i += stride()) to[i] = from[i];
}

// to[i] = from[i + shift], where the end goes on at the start; 0 <= shift < nbytes.
__global__ void rotate_jobs(const Job* jobs) {
    Byte* to = jobs[blockIdx.y].to;
    const Byte* from = jobs[blockIdx.y].from;
    long long nbytes = jobs[blockIdx.y].count, shift = jobs[blockIdx.y].shift;
    for (long long i = first(); i < nbytes; i += stride()) {
        long long source = i + shift;
        to[i] = from[source < nbytes ? source : source - nbytes];
    }
}

// Counts words and bytes that differ.
__global__ void unchanged_jobs(const Job* jobs) {
    const Byte *before = jobs[blockIdx.y].from, *after = jobs[blockIdx.y].to;
    long long nbytes = jobs[blockIdx.y].count;
    long long begin = head(before, after, nbytes), words = (nbytes - begin) / 8;
    Word differ = 0;
    for (long long i = first(); i < words; i += stride())
        differ += ((const Word*)(before + begin))[i] != ((const Word*)(after + begin))[i];
    for (long long i = first(); i < begin; i += stride()) differ += before[i] != after[i];
    for (long long i = begin + 8 * words + first(); i < nbytes; i += stride())
        differ += before[i] != after[i];
    if (differ) atomicAdd(jobs[blockIdx.y].slot + CHANGED, differ);
}

// A reference lies masked in memory, so that no kernel that strays there finds it (splitmix64).
__device__ Word stream(long long key, long long i) {
    Word z = (Word)key + (Word)(i + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__global__ void mask_jobs(const Job* jobs) {
    Word* data = (Word*)jobs[blockIdx.y].to;
    long long count = jobs[blockIdx.y].count, key = jobs[blockIdx.y].key;
    for (long long i = first(); i < count; i += stride()) data[i] ^= stream(key, i);
}

// Sign, exponent and mantissa as a double: width bits of mantissa, exponents from 1 - bias.
__device__ double widened(Word sign, Word exponent, Word mantissa, int width, int bias) {
    if (exponent == 0) {
        double least = real((Word)(1024 - bias - width) << 52);
        return (sign ? -1.0 : 1.0) * (double)mantissa * least;
    }
    return real(sign << 63 | (exponent + 1023 - bias) << 52 | mantissa << (52 - width));
}

template <int TYPE> __device__ double value(const void* data, long long i) {
    if (TYPE == FLOAT16) {
        Word bits = ((const unsigned short*)data)[i];
        Word sign = bits >> 15, exponent = bits >> 10 & 31, mantissa = bits & 1023;
        if (exponent == 31) return real(sign << 63 | 0x7FFull << 52 | mantissa << 42);
        return widened(sign, exponent, mantissa, 10, 15);
    }
    if (TYPE == BFLOAT16) {
        ShortBits bits;
        bits.word = (unsigned)((const unsigned short*)data)[i] << 16;
        return bits.real;
    }
    if (TYPE == FLOAT8) { // e4m3fnuz: no infinities, one NaN
        Word bits = ((const Byte*)data)[i];
        if (bits == 0x80) return real(0x7FF8ull << 48);
        return widened(bits >> 7, bits >> 3 & 15, bits & 7, 3, 8);
    }
    return ((const float*)data)[i];
}

// |out - reference| / (atol + rtol |reference|); NaN and infinity only where the reference has them.
template <int TYPE>
__device__ double error_of(const void* out, long long i, Word expected, double rtol, double atol) {
    double difference, size;
    if (TYPE == INT32) {
        Bits bits;
        bits.word = expected;
        long long apart = bits.integer - ((const int*)out)[i];
        if (apart == 0) return 0;
        difference = apart < 0 ? -(double)apart : (double)apart;
        size = bits.integer < 0 ? -(double)bits.integer : (double)bits.integer;
    } else {
        double found = value<TYPE>(out, i), wanted = real(expected);
        if (found == wanted || (found != found && wanted != wanted)) return 0;
        difference = fabs(wanted - found);
        size = fabs(wanted);
    }
    double allowed = size * rtol;
    allowed += atol;
    double error = difference / allowed;
    return error <= 1.7976931348623157e308 ? error : real(0x7FFull << 52);
}

// An ulp of a number of that size, or a little more.
template <int TYPE> __device__ double last_place(double size) {
    if (TYPE == FLOAT16) return 0x1p-10 * size + 0x1p-24;
    if (TYPE == BFLOAT16) return 0x1p-7 * size + 0x1p-133;
    if (TYPE == FLOAT8) return 0x1p-3 * size + 0x1p-10;
    return 0x1p-23 * size + 0x1p-149;
}

__device__ double finite(double x) { return fabs(x) <= 1.7976931348623157e308 ? x : 0; }

// To the slot, the sum of what the threads of a block bring: one atomic operation, not 256.
__device__ void add(double mine, double* sums, Word* slot) {
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0 && sums[0] > 0) atomicAdd((double*)slot, sums[0]);
    __syncthreads();
}

// The largest error, how many elements are beyond tolerance, and sums of squares, in units of
// tolerance: of what is beyond one ulp of the type, and of a float32 ulp of the reference.
template <int TYPE> __global__ void compare_jobs(const Job* jobs) {
    __shared__ double sums[256];
    const void* out = jobs[blockIdx.y].to;
    const Word* masked = (const Word*)jobs[blockIdx.y].from;
    long long count = jobs[blockIdx.y].count, key = jobs[blockIdx.y].key;
    double rtol = jobs[blockIdx.y].rtol, atol = jobs[blockIdx.y].atol;
    Word* slot = jobs[blockIdx.y].slot;
    Bits largest;
    largest.real = 0;
    Word wrong = 0;
    double beyond = 0, ulps = 0;
    for (long long i = first(); i < count; i += stride()) {
        Word expected = masked[i] ^ stream(key, i);
        double error = error_of<TYPE>(out, i, expected, rtol, atol);
        if (error > largest.real) largest.real = error;
        wrong += error > 1.0;
        if (TYPE != INT32 && rtol + atol > 0) {
            double size = fabs(real(expected)), allowed = size * rtol + atol;
            double more = error - finite(last_place<TYPE>(size) / allowed);
            double ulp = finite(0x1p-23 * size / allowed);
            beyond += more > 0 ? more * more : 0;
            ulps += ulp * ulp;
        }
    }
    // Errors are not negative, so their bits order as they do. Looking first spares most atomics.
    if (largest.word > slot[ERROR]) atomicMax(slot + ERROR, largest.word);
    if (wrong) atomicAdd(slot + WRONG, wrong);
    if (TYPE != INT32) {
        add(beyond, sums, slot + BEYOND);
        add(ulps, sums, slot + ULP);
    }
}
