// Inputs as the task states them, and random bytes for guards. Half a random word gives an element:
// the k-th half of block b is element (b / 256) * 2048 + k * 256 + b % 256, so that neighbouring
// threads write to neighbouring places.

enum { TILE = 2048 };

// The bits of a value rounded to nearest even: width bits of mantissa, exponents from 1 - bias.
// infinity: its bits; beyond what is finite comes beyond.
__device__ unsigned narrowed(double value, int width, int bias, unsigned infinity, unsigned beyond) {
    Bits bits;
    bits.real = value;
    Word mantissa = bits.word << 12 >> 12;
    int exponent = (int)(bits.word << 1 >> 53) - 1023, drop = 52 - width;
    if (exponent >= 1 - bias) {
        mantissa |= (Word)(exponent + bias) << 52;
    } else {
        mantissa |= 1ull << 52;
        drop += 1 - bias - exponent;
    }
    if (drop > 54) return 0;
    Word half = (1ull << (drop - 1)) - 1 + (mantissa >> drop & 1);
    Word rounded = (mantissa + half) >> drop;
    return rounded < infinity ? (unsigned)rounded : beyond;
}

// Sign, exponent and mantissa as a double: width bits of mantissa, exponents from 1 - bias.
__device__ double widened(Word sign, Word exponent, Word mantissa, int width, int bias) {
    if (exponent == 0) {
        double least = real((Word)(1024 - bias - width) << 52);
        return (sign ? -1.0 : 1.0) * (double)mantissa * least;
    }
    return real(sign << 63 | (exponent + 1023 - bias) << 52 | mantissa << (52 - width));
}

// An element's bits as the number they stand for.
__device__ double number(int type, unsigned bits) {
    if (type == FLOAT16) {
        if ((bits >> 10 & 31) == 31) return real((Word)(bits >> 15) << 63 | 0x7FFull << 52 | (Word)(bits & 1023) << 42);
        return widened(bits >> 15, bits >> 10 & 31, bits & 1023, 10, 15);
    }
    if (type == FLOAT8) { // e4m3fnuz: no infinities, one NaN
        if (bits == 0x80) return real(0x7FF8ull << 48);
        return widened(bits >> 7, bits >> 3 & 15, bits & 7, 3, 8);
    }
    if (type == INT32) return (int)bits;
    ShortBits whole;
    whole.word = type == BFLOAT16 ? bits << 16 : bits;
    return whole.real;
}

// The bits of the element nearest to a number; for int32 the number without its fraction.
__device__ unsigned element(int type, double number) {
    Bits bits;
    bits.real = number;
    unsigned sign = (unsigned)(bits.word >> 63);
    if (type == FLOAT16) return sign << 15 | narrowed(number, 10, 15, 0x7C00, 0x7C00);
    if (type == BFLOAT16) return sign << 15 | narrowed(number, 7, 127, 0x7F80, 0x7F80);
    if (type == FLOAT8) {
        unsigned size = narrowed(number, 3, 8, 0x80, 0x80);
        return size == 0x80 ? size : size ? sign << 7 | size : 0;
    }
    if (type == INT32) return (unsigned)(int)number;
    ShortBits whole;
    whole.real = (float)number;
    return whole.word;
}

struct Two {
    unsigned bits[2];
};

// Box and Muller's two normal numbers from one word, in double precision (1958).
__device__ void normals(Word word, double* numbers) {
    double radius = sqrt(-2.0 * log(((double)(unsigned)word + 0.5) * 0x1p-32));
    double turn = (double)(word >> 32) * (6.283185307179586 * 0x1p-32);
    numbers[0] = radius * cos(turn);
    numbers[1] = radius * sin(turn);
}

__device__ double drawn(const Job& job, unsigned half, double normal) {
    if (job.kind == CONSTANT) return job.offset;
    if (job.kind == INTEGERS) return (double)((Word)half * (Word)job.scale >> 32) + job.offset;
    float unit = job.kind == NORMAL ? (float)normal : (float)(half >> 8) * 0x1p-24f;
    return unit * (float)job.scale + (float)job.offset;
}

// Two elements of a job from one random word.
__device__ Two elements(const Job& job, Word word) {
    if (job.kind == NOISE) return Two{{(unsigned)word & 255, (unsigned)(word >> 32) & 255}};
    double normal[2] = {0.0, 0.0};
    if (job.kind == NORMAL) normals(word, normal);
    Two two;
    for (int k = 0; k < 2; ++k) {
        double value = drawn(job, (unsigned)(word >> 32 * k), normal[k]);
        if (job.through != EXACT) value = number(job.through, element(job.through, value));
        two.bits[k] = element(job.type, value);
    }
    return two;
}

__device__ int size_of(int type) {
    if (type == BYTE || type == FLOAT8) return 1;
    return type == FLOAT16 || type == BFLOAT16 ? 2 : 4;
}

__device__ unsigned load(const Byte* data, int size, long long i) {
    if (size == 4) return ((const unsigned*)data)[i];
    return size == 2 ? ((const unsigned short*)data)[i] : data[i];
}

__device__ void store(Byte* data, int size, long long i, unsigned bits) {
    if (size == 4) ((unsigned*)data)[i] = bits;
    else if (size == 2) ((unsigned short*)data)[i] = (unsigned short)bits;
    else data[i] = (Byte)bits;
}

__global__ void draw_jobs(const Job* jobs) {
    const Job job = jobs[blockIdx.y];
    int size = size_of(job.type);
    for (long long tile = blockIdx.x; tile * TILE < job.count; tile += gridDim.x) {
        Four words = random_words(job.key, tile * blockDim.x + threadIdx.x);
        long long i = tile * TILE + threadIdx.x;
        for (int k = 0; k < 4; ++k, i += 2 * blockDim.x) {
            if (i >= job.count) break;
            Two two = elements(job, words.word[k]);
            store(job.to, size, i, two.bits[0]);
            if (i + blockDim.x < job.count) store(job.to, size, i + blockDim.x, two.bits[1]);
        }
    }
}

// Draws once more, and counts the elements that are no longer as they were drawn.
__global__ void redraw_jobs(const Job* jobs) {
    const Job job = jobs[blockIdx.y];
    int size = size_of(job.type);
    Word differ = 0;
    for (long long tile = blockIdx.x; tile * TILE < job.count; tile += gridDim.x) {
        Four words = random_words(job.key, tile * blockDim.x + threadIdx.x);
        long long i = tile * TILE + threadIdx.x;
        for (int k = 0; k < 4; ++k, i += 2 * blockDim.x) {
            if (i >= job.count) break;
            Two two = elements(job, words.word[k]);
            differ += load(job.to, size, i) != two.bits[0];
            if (i + blockDim.x < job.count)
                differ += load(job.to, size, i + blockDim.x) != two.bits[1];
        }
    }
    if (differ) atomicAdd(job.slot + CHANGED, differ);
}
