/*---
launches:
  - {kernel: degrees, grid: ["ceil_div(M * 32, 128)"], block: [128], args: [row_ptr, weight, degree, M]}
---*/
__global__ void degrees(const int* __restrict__ row_ptr, const float* __restrict__ weight,
                        float* __restrict__ degree, int nodes) {
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const int lane = threadIdx.x % 32;
    if (warp >= nodes) return;
    float sum = 0.f;
    for (int e = row_ptr[warp] + lane; e < row_ptr[warp + 1]; e += 32) sum += weight[e];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d, 32);
    if (lane == 0) degree[warp] = sum;
}
