// Sums of blocks of 256, by wavefronts of 64 lanes. Planted: 1 a reduction over half a wavefront,
// 2 shuffles among 32 lanes, 3 no bound on loads.
#ifndef PLANTED
#define PLANTED 0
#endif
extern "C" __global__ void block_sum(const float* x, float* sums, int n) {
    __shared__ float parts[4];
    int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 64, wave = threadIdx.x / 64;
    float value = 0;
#if PLANTED == 3
    value = x[i];
#else
    if (i < n) value = x[i];
#endif
#if PLANTED == 1
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down(value, offset);
#elif PLANTED == 2
    for (int offset = 32; offset > 0; offset /= 2) value += __shfl_down(value, offset, 32);
#else
    for (int offset = 32; offset > 0; offset /= 2) value += __shfl_down(value, offset);
#endif
    if (lane == 0) parts[wave] = value;
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = parts[0] + parts[1] + parts[2] + parts[3];
}
