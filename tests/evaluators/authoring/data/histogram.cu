#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int BINS = 256;
constexpr int THREADS = 128;
constexpr int BLOCKS = 64;

__global__ void histogram(const uint8_t *data, uint32_t *bins, int n) {
    __shared__ uint32_t local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

int main() {
    int n = 10'000'000;
    std::vector<uint8_t> bytes(n);
    for (int i = 0; i < n; ++i) bytes[i] = (i * 2654435761u) >> 24;
    uint8_t *d_data;
    uint32_t *d_bins;
    cudaMalloc(&d_data, n);
    cudaMalloc(&d_bins, BINS * sizeof(uint32_t));
    cudaMemcpy(d_data, bytes.data(), n, cudaMemcpyHostToDevice);
    cudaMemset(d_bins, 0, BINS * sizeof(uint32_t));
    histogram<<<BLOCKS, THREADS>>>(d_data, d_bins, n);
    std::vector<uint32_t> counts(BINS);
    cudaMemcpy(counts.data(), d_bins, BINS * sizeof(uint32_t), cudaMemcpyDeviceToHost);
    std::printf("%u\n", counts[0]);
}
