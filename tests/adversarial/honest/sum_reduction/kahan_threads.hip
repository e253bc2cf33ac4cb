/*---
launches:
  - kernel: kahan_parts
    grid: [BLOCKS]
    block: [128]
    args: [x, parts, N]
  - kernel: kahan_join
    grid: [1]
    block: [1]
    args: [parts, out, {value: "BLOCKS", type: int32}]
scratch: {parts: "8 * BLOCKS"}
params: {BLOCKS: 64}
options: ["-ffp-contract=off"]
---*/
// Kahan's summation in threads, blocks and between blocks: sums travel with what they lost.
struct Kahan {
    float sum;
    float lost;
};

__device__ inline void add(Kahan& k, float term) {
    float y = term - k.lost;
    float t = k.sum + y;
    k.lost = (t - k.sum) - y;
    k.sum = t;
}

__global__ void kahan_parts(const float* x, Kahan* parts, int n) {
    __shared__ Kahan lds[128];
    Kahan mine = {0.0f, 0.0f};
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) add(mine, x[i]);
    lds[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            Kahan joined = lds[threadIdx.x];
            add(joined, -lds[threadIdx.x + s].lost);
            add(joined, lds[threadIdx.x + s].sum);
            lds[threadIdx.x] = joined;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = lds[0];
}

__global__ void kahan_join(const Kahan* parts, float* out, int count) {
    Kahan total = {0.0f, 0.0f};
    for (int i = 0; i < count; ++i) {
        add(total, -parts[i].lost);
        add(total, parts[i].sum);
    }
    out[0] = total.sum;
}
