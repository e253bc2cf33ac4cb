/*---
launches:
  - kernel: reduce3
    grid: ["ceil_div(N, 512)"]
    block: [256]
    args: [x, level1, N]
  - kernel: reduce3
    grid: ["ceil_div(ceil_div(N, 512), 512)"]
    block: [256]
    args: [level1, level2, {value: "ceil_div(N, 512)", type: int32}]
  - kernel: reduce3
    grid: ["ceil_div(ceil_div(ceil_div(N, 512), 512), 512)"]
    block: [256]
    args: [level2, level3, {value: "ceil_div(ceil_div(N, 512), 512)", type: int32}]
  - kernel: reduce3
    grid: [1]
    block: [256]
    args: [level3, out, {value: "ceil_div(ceil_div(ceil_div(N, 512), 512), 512)", type: int32}]
scratch:
  level1: "4 * ceil_div(N, 512)"
  level2: "4 * ceil_div(ceil_div(N, 512), 512)"
  level3: "4 * ceil_div(ceil_div(ceil_div(N, 512), 512), 512)"
---*/
// Two loads a thread, and as many levels as a size of 2^27 needs.
__global__ void reduce3(const float* in, float* out, int n) {
    __shared__ float sdata[256];
    int tid = threadIdx.x;
    int i = blockIdx.x * (256 * 2) + threadIdx.x;
    float mySum = (i < n) ? in[i] : 0;
    if (i + 256 < n) mySum += in[i + 256];
    sdata[tid] = mySum;
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] = mySum = mySum + sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = mySum;
}
