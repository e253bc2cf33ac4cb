// References of 8 bytes lie masked in memory, so that no kernel that strays there finds them, and
// are known again by a keyed checksum, so that none can change them unseen. Of a block's four
// random words two mask an element each; the other two are the keys of its checksum.

enum { PAIRS = 512 };

// NH, of which equal sums for different words have a chance of 2^-32 (Black et al., UMAC, 1999).
__device__ Word hashed(Word word, Word key) {
    return (Word)((unsigned)word + (unsigned)key) * (unsigned)((word >> 32) + (key >> 32));
}

// The sum of what the threads of a block bring goes to what to points at: one atomic operation,
// not 256. sums: LDS.
template <typename T> __device__ void add_up(T* to, T mine, T* sums) {
    sums[threadIdx.x] = mine;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    }
    if (threadIdx.x == 0) atomicAdd(to, sums[0]);
    __syncthreads();
}

__global__ void mask_jobs(const Job* jobs) {
    __shared__ Word sums[256];
    const Job job = jobs[blockIdx.y];
    Word *data = (Word*)job.to, sum = 0;
    for (long long tile = blockIdx.x; tile * PAIRS < job.count; tile += gridDim.x) {
        Four words = random_words(job.key, tile * blockDim.x + threadIdx.x);
        for (int k = 0; k < 2; ++k) {
            long long i = tile * PAIRS + k * blockDim.x + threadIdx.x;
            if (i >= job.count) break;
            data[i] ^= words.word[k];
            sum += hashed(data[i], words.word[2 + k]);
        }
    }
    add_up(job.slot + CHECKSUM, sum, sums);
}

// |out - reference| / (atol + rtol |reference|); NaN and infinity only where the reference has them.
template <int TYPE>
__device__ double error_of(const Byte* out, long long i, Word expected, double rtol, double atol) {
    Word bits = load(out, size_of(TYPE), i);
    double difference, size;
    if (is_whole(TYPE)) { // the reference is an integer of 64 bits, of UINT64 without a sign
        Word found = (Word)whole_number(TYPE, bits);
        bool less = TYPE == UINT64 ? found < expected : (long long)found < (long long)expected;
        if (found == expected) return 0;
        difference = (double)(less ? expected - found : found - expected);
        size = TYPE == UINT64 ? (double)expected : fabs((double)(long long)expected);
    } else {
        double found = number(TYPE, bits), wanted = real(expected);
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
    switch (TYPE) {
    case FLOAT64: return 0x1p-52 * size + 0x1p-1022;
    case FLOAT16: return 0x1p-10 * size + 0x1p-24;
    case BFLOAT16: return 0x1p-7 * size + 0x1p-133;
    case FLOAT8_E4M3_FNUZ: return 0x1p-3 * size + 0x1p-10;
    case FLOAT8_E5M2_FNUZ: return 0x1p-2 * size + 0x1p-17;
    case FLOAT8_E4M3: return 0x1p-3 * size + 0x1p-9;
    case FLOAT8_E5M2: return 0x1p-2 * size + 0x1p-16;
    default: return 0x1p-23 * size + 0x1p-149;
    }
}

__device__ double finite(double x) { return fabs(x) <= 1.7976931348623157e308 ? x : 0; }

// The largest error, how many elements are beyond tolerance, the checksum of the references, and
// sums of squares, in units of tolerance: of what is beyond one ulp of the type, and of a float32
// ulp of the reference.
template <int TYPE> __global__ void compare_jobs(const Job* jobs) {
    __shared__ Word sums[256];
    __shared__ double squares[256];
    const Job job = jobs[blockIdx.y];
    const Word* masked = (const Word*)job.from;
    Bits largest;
    largest.real = 0;
    Word wrong = 0, sum = 0;
    double beyond = 0, ulps = 0;
    for (long long tile = blockIdx.x; tile * PAIRS < job.count; tile += gridDim.x) {
        Four words = random_words(job.key, tile * blockDim.x + threadIdx.x);
        for (int k = 0; k < 2; ++k) {
            long long i = tile * PAIRS + k * blockDim.x + threadIdx.x;
            if (i >= job.count) break;
            Word expected = masked[i] ^ words.word[k];
            sum += hashed(masked[i], words.word[2 + k]);
            double error = error_of<TYPE>(job.to, i, expected, job.scale, job.offset);
            if (error > largest.real) largest.real = error;
            wrong += error > 1.0;
            if (!is_whole(TYPE) && job.scale + job.offset > 0) {
                double size = fabs(real(expected)), allowed = size * job.scale + job.offset;
                double more = error - finite(last_place<TYPE>(size) / allowed);
                double ulp = finite(0x1p-23 * size / allowed);
                beyond += more > 0 ? more * more : 0;
                ulps += ulp * ulp;
            }
        }
    }
    // Errors are not negative, so their bits order as they do. Looking first spares most atomics.
    if (largest.word > job.slot[ERROR]) atomicMax(job.slot + ERROR, largest.word);
    if (wrong) atomicAdd(job.slot + WRONG, wrong);
    add_up(job.slot + CHECKSUM, sum, sums);
    if (!is_whole(TYPE)) {
        add_up((double*)job.slot + BEYOND, beyond, squares);
        add_up((double*)job.slot + ULP, ulps, squares);
    }
}
