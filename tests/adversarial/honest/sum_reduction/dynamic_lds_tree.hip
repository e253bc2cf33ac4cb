/*---
launches:
  - kernel: tree<1>
    grid: [BLOCKS]
    block: [THREADS]
    lds_bytes: "4 * THREADS"
    args: [x, parts, N]
  - kernel: tree<0>
    grid: [1]
    block: [THREADS]
    lds_bytes: "4 * THREADS"
    args: [parts, out, {value: "BLOCKS", type: int32}]
scratch: {parts: "4 * BLOCKS"}
params: {BLOCKS: 100, THREADS: 128}
space: {BLOCKS: [10, 100, 1000], THREADS: [64, 128, 256, 512]}
variants: [{when: "N < 10000", params: {BLOCKS: 4}}]
---*/
// A tree in dynamic LDS; the template parameter tells the first launch from the second.
template <int FIRST>
__global__ void tree(const float* from, float* to, int count) {
    HIP_DYNAMIC_SHARED(float, lds)
    const int t = threadIdx.x;
    float v = 0.0f;
    const int start = FIRST ? blockIdx.x * THREADS + t : t;
    const int step = FIRST ? gridDim.x * THREADS : THREADS;
    for (int i = start; i < count; i += step) v += from[i];
    lds[t] = v;
    __syncthreads();
    int active = THREADS;
    while (active > 1) {
        active >>= 1;
        if (t < active) lds[t] += lds[t + active];
        __syncthreads();
    }
    if (t == 0) to[FIRST ? blockIdx.x : 0] = lds[0];
}
