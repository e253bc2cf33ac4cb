#include <cstdio>
#include <cuda_runtime.h>

#define CHECK(x) do { if ((x) != cudaSuccess) { printf("failed at %d\n", __LINE__); return 1; } } while (0)

__global__ void block_sums(const float *g_in, float *g_out, unsigned int n)
{
    extern __shared__ float sdata[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    float v = i < n ? g_in[i] : 0.0f;
    if (i + blockDim.x < n) v += g_in[i + blockDim.x];
    sdata[tid] = v;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

__global__ void last_sum(const float *g_in, float *g_out, unsigned int n)
{
    extern __shared__ float sdata[];
    float v = 0.0f;
    for (unsigned int i = threadIdx.x; i < n; i += blockDim.x) v += g_in[i];
    sdata[threadIdx.x] = v;
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sdata[threadIdx.x] += sdata[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) *g_out = sdata[0];
}

int main()
{
    const unsigned int n = 1 << 22;
    const int threads = 256;
    const unsigned int blocks = (n + threads * 2 - 1) / (threads * 2);
    float *h = (float *)malloc(n * sizeof(float)), result;
    for (unsigned int i = 0; i < n; ++i) h[i] = 1.0f / (i + 1);
    float *d_data, *d_partial, *d_result;
    CHECK(cudaMalloc(&d_data, n * sizeof(float)));
    CHECK(cudaMalloc(&d_partial, blocks * sizeof(float)));
    CHECK(cudaMalloc(&d_result, sizeof(float)));
    CHECK(cudaMemcpy(d_data, h, n * sizeof(float), cudaMemcpyHostToDevice));
    size_t shared = threads * sizeof(float);
    block_sums<<<blocks, threads, shared>>>(d_data, d_partial, n);
    last_sum<<<1, threads, shared>>>(d_partial, d_result, blocks);
    CHECK(cudaMemcpy(&result, d_result, sizeof(float), cudaMemcpyDeviceToHost));
    printf("%f\n", result);
    return 0;
}
