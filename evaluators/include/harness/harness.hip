/*---
launches: [{kernel: fill_jobs, grid: [1], block: [256], args: []}]
options: ["-ffp-contract=off"]
---*/
// The harness's own kernels: they draw data, and say whether what a kernel left there is right.
// Each does many jobs of its kind in one launch: blockIdx.y says which. The files of this folder
// are compiled as one, in the order harness, words, draw, compare.

typedef unsigned long long Word;
typedef unsigned char Byte;

// As evaluators/dtypes.py has them, in its order.
enum { FLOAT32, FLOAT16, BFLOAT16, FLOAT8_E4M3_FNUZ, INT32, FLOAT64, FLOAT8_E5M2_FNUZ, FLOAT8_E4M3,
       FLOAT8_E5M2, BOOL, INT8, UINT8, INT16, UINT16, UINT32, INT64, UINT64, BYTE, EXACT };
enum { NORMAL, UNIFORM, INTEGERS, CONSTANT, NOISE };
enum { ERROR, WRONG, CHANGED, CHECKSUM, BEYOND, ULP, FIELDS }; // a slot of results

struct Job {
    Byte* to;         // or what was found
    const Byte* from; // or what it should be
    long long count;  // elements, or bytes to fill
    Word key[2];
    double scale, offset; // of a distribution; or the relative and the absolute tolerance; of
                          // integers the bits are two words: how many there are, and the least
    int type, through;    // of elements; what they are rounded to first, or EXACT
    int kind, byte;       // of distribution; to fill with
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

// The buffer's bytes, by whole words where it has them.
__global__ void fill_jobs(const Job* jobs) {
    const Job job = jobs[blockIdx.y];
    long long skew = (8 - ((size_t)job.to & 7)) & 7;
    long long begin = skew < job.count ? skew : job.count, words = (job.count - begin) / 8;
    Word word = (Word)job.byte * 0x0101010101010101ull;
    for (long long i = first(); i < words; i += stride()) ((Word*)(job.to + begin))[i] = word;
    for (long long i = first(); i < begin; i += stride()) job.to[i] = (Byte)job.byte;
    for (long long i = begin + 8 * words + first(); i < job.count; i += stride())
        job.to[i] = (Byte)job.byte;
}
