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

// The bits of a type without infinities and -0, whose one NaN is 0x80.
__device__ Word narrowed_fnuz(double value, int width, int bias) {
    unsigned size = narrowed(value, width, bias, 0x80, 0x80);
    return size == 0x80 || size == 0 ? size : size | (value < 0 ? 0x80 : 0);
}

__device__ bool is_whole(int type) { return type == INT32 || (type >= BOOL && type <= UINT64); }

// An element's bits as the integer they stand for, modulo 2^64.
__device__ long long whole_number(int type, Word bits) {
    switch (type) {
    case INT8: return (signed char)bits;
    case INT16: return (short)bits;
    case INT32: return (int)bits;
    default: return (long long)bits;
    }
}

// An element's bits as the number they stand for.
__device__ double number(int type, Word bits) {
    if (type == FLOAT64) return real(bits);
    if (is_whole(type)) return type == UINT64 ? (double)bits : (double)whole_number(type, bits);
    Word sign = bits >> 7 & 1;
    switch (type) {
    case FLOAT16:
        if ((bits >> 10 & 31) == 31) return real(bits >> 15 << 63 | 0x7FFull << 52 | (bits & 1023) << 42);
        return widened(bits >> 15, bits >> 10 & 31, bits & 1023, 10, 15);
    case FLOAT8_E4M3_FNUZ:
        if (bits == 0x80) return real(0x7FF8ull << 48);
        return widened(sign, bits >> 3 & 15, bits & 7, 3, 8);
    case FLOAT8_E5M2_FNUZ:
        if (bits == 0x80) return real(0x7FF8ull << 48);
        return widened(sign, bits >> 2 & 31, bits & 3, 2, 16);
    case FLOAT8_E4M3: // no infinities
        if ((bits & 0x7F) == 0x7F) return real(0x7FF8ull << 48);
        return widened(sign, bits >> 3 & 15, bits & 7, 3, 7);
    case FLOAT8_E5M2:
        if ((bits >> 2 & 31) == 31) return real(sign << 63 | 0x7FFull << 52 | (bits & 3) << 50);
        return widened(sign, bits >> 2 & 31, bits & 3, 2, 15);
    }
    ShortBits whole;
    whole.word = (unsigned)(type == BFLOAT16 ? bits << 16 : bits);
    return whole.real;
}

// The bits of the element nearest to a number; of an integer type the number without its fraction.
__device__ Word element(int type, double number) {
    Bits bits;
    bits.real = number;
    Word sign = bits.word >> 63;
    switch (type) {
    case FLOAT64: return bits.word;
    case FLOAT16: return sign << 15 | narrowed(number, 10, 15, 0x7C00, 0x7C00);
    case BFLOAT16: return sign << 15 | narrowed(number, 7, 127, 0x7F80, 0x7F80);
    case FLOAT8_E4M3_FNUZ: return narrowed_fnuz(number, 3, 8);
    case FLOAT8_E5M2_FNUZ: return narrowed_fnuz(number, 2, 16);
    case FLOAT8_E4M3: return sign << 7 | narrowed(number, 3, 7, 0x7F, 0x7F);
    case FLOAT8_E5M2: return sign << 7 | narrowed(number, 2, 15, 0x7C, 0x7C);
    case BOOL: return number != 0;
    }
    if (is_whole(type)) return (Word)(long long)number;
    ShortBits whole;
    whole.real = (float)number;
    return whole.word;
}

__device__ int size_of(int type) {
    switch (type) {
    case FLOAT64: case INT64: case UINT64: return 8;
    case FLOAT32: case INT32: case UINT32: return 4;
    case FLOAT16: case BFLOAT16: case INT16: case UINT16: return 2;
    }
    return 1;
}

struct Two {
    Word bits[2];
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
    float unit = job.kind == NORMAL ? (float)normal : (float)(half >> 8) * 0x1p-24f;
    return unit * (float)job.scale + (float)job.offset;
}

__device__ Word word_of(double bits) {
    Bits both;
    both.real = bits;
    return both.word;
}

// One of the job's integers, as an element of a type. As many as 2^64 are written as 0.
__device__ Word drawn_whole(const Job& job, unsigned half, int type) {
    Word count = word_of(job.scale), wide = (Word)half << 32;
    Word whole = (count ? __umul64hi(wide, count) : wide) + word_of(job.offset);
    if (is_whole(type) && type != BOOL) return whole;
    return element(type, (double)(long long)whole);
}

// Two elements of a job from one random word.
__device__ Two elements(const Job& job, Word word) {
    if (job.kind == NOISE) return Two{{word & 255, word >> 32 & 255}};
    double normal[2] = {0.0, 0.0};
    if (job.kind == NORMAL) normals(word, normal);
    int size = size_of(job.type), first = job.through == EXACT ? job.type : job.through;
    Two two;
    for (int k = 0; k < 2; ++k) {
        unsigned half = (unsigned)(word >> 32 * k);
        Word bits = job.kind == INTEGERS ? drawn_whole(job, half, first)
                                         : element(first, drawn(job, half, normal[k]));
        if (first != job.type) bits = element(job.type, number(first, bits));
        two.bits[k] = size == 8 ? bits : bits & ((1ull << 8 * size) - 1);
    }
    return two;
}

__device__ Word load(const Byte* data, int size, long long i) {
    if (size == 8) return ((const Word*)data)[i];
    if (size == 4) return ((const unsigned*)data)[i];
    return size == 2 ? ((const unsigned short*)data)[i] : data[i];
}

__device__ void store(Byte* data, int size, long long i, Word bits) {
    if (size == 8) ((Word*)data)[i] = bits;
    else if (size == 4) ((unsigned*)data)[i] = (unsigned)bits;
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

// What a buffer holds, as wide as a reference: doubles, of integers 64 bits.
__global__ void widen_jobs(const Job* jobs) {
    const Job job = jobs[blockIdx.y];
    int size = size_of(job.type);
    for (long long i = first(); i < job.count; i += stride()) {
        Word bits = load(job.from, size, i);
        ((Word*)job.to)[i] = is_whole(job.type) ? (Word)whole_number(job.type, bits)
                                                : word_of(number(job.type, bits));
    }
}
