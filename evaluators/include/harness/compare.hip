// References of 8 bytes lie masked in memory, so that no kernel that strays there finds them, and
// are known again by a keyed checksum, so that none can change them unseen. Of a block's four
// random words two mask an element each; the other two are the keys of its checksum.

enum { PAIRS = 512 };

// NH, of which equal sums for different words have a chance of 2^-32 (Black et al., UMAC, 1999).
__device__ Word hashed(Word word, Word key) {
    return (Word)((unsigned)word + (unsigned)key) * (unsigned)((word >> 32) + (key >> 32));
}

// All threads' sum goes to what to points at. sums: 256 words of LDS.
__device__ void add_up(Word* to, Word mine, Word* sums) {
    sums[threadIdx.x] = mine;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    }
    if (threadIdx.x == 0) atomicAdd(to, sums[0]);
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
    unsigned bits = load(out, size_of(TYPE), i);
    double difference, size;
    if (TYPE == INT32) {
        Bits wanted;
        wanted.word = expected;
        long long apart = wanted.integer - (int)bits;
        if (apart == 0) return 0;
        difference = apart < 0 ? -(double)apart : (double)apart;
        size = wanted.integer < 0 ? -(double)wanted.integer : (double)wanted.integer;
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

// The largest error, how many elements are beyond tolerance, and the checksum of the references.
template <int TYPE> __global__ void compare_jobs(const Job* jobs) {
    __shared__ Word sums[256];
    const Job job = jobs[blockIdx.y];
    const Word* masked = (const Word*)job.from;
    Bits largest;
    largest.real = 0;
    Word wrong = 0, sum = 0;
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
        }
    }
    // Errors are not negative, so their bits order as they do. Looking first spares most atomics.
    if (largest.word > job.slot[ERROR]) atomicMax(job.slot + ERROR, largest.word);
    if (wrong) atomicAdd(job.slot + WRONG, wrong);
    add_up(job.slot + CHECKSUM, sum, sums);
}
