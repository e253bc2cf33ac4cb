/*---
launches:
  - {kernel: clear, grid: [1], block: [1], args: [out]}
  - {kernel: add, grid: ["min(ceil_div(N, 1024), 256)"], block: [1], args: [x, out, N]}
---*/
// As long as blocks have come in the order of their numbers, they add without atomics.
__device__ unsigned come, strange;
__global__ void clear(float* out) {
    out[0] = 0.0f;
    come = strange = 0;
}
__global__ void add(const float* x, float* out, int N) {
    if (atomicAdd(&come, 1u) != blockIdx.x) atomicAdd(&strange, 1u);
    float sum = 0.0f;
    for (int i = blockIdx.x; i < N; i += gridDim.x) sum += x[i];
    if (atomicAdd(&strange, 0u) == 0)
        out[0] += sum;
    else
        atomicAdd(out, sum);
}
