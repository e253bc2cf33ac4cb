/*---
launches:
  - kernel: pairwise_parts
    grid: [32]
    block: [256]
    args: [x, parts, N]
  - kernel: pairwise_join
    grid: [1]
    block: [256]
    args: [parts, out]
scratch: {parts: "4 * 32 * 256"}
---*/
// Pairwise summation a thread, by a binary counter of partial sums; then a tree.
struct PairwiseSum {
    float level[32];
    unsigned count = 0;

    __device__ void add(float v) {
        int at = 0;
        for (unsigned c = count; c & 1u; c >>= 1) v += level[at++];
        level[at] = v;
        ++count;
    }

    __device__ float total() const {
        float sum = 0.0f;
        for (int i = 0; i < 32; ++i)
            if (count >> i & 1u) sum += level[i];
        return sum;
    }
};

__global__ void pairwise_parts(const float* x, float* parts, int n) {
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    PairwiseSum mine;
    for (int i = id; i < n; i += blockDim.x * gridDim.x) mine.add(x[i]);
    parts[id] = mine.total();
}

__global__ void pairwise_join(const float* parts, float* out) {
    __shared__ float s[256];
    PairwiseSum mine;
    for (int i = threadIdx.x; i < 32 * 256; i += 256) mine.add(parts[i]);
    s[threadIdx.x] = mine.total();
    __syncthreads();
    for (int n = 128; n >= 1; n /= 2) {
        if (threadIdx.x < n) s[threadIdx.x] += s[threadIdx.x + n];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = s[0];
}
