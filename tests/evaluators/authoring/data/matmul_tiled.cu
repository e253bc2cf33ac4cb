// C = A B by tiles in shared memory.
#include <cuda_runtime.h>
#include <stdio.h>
#define TILE 16

__global__ void matmul(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
        int a = t * TILE + threadIdx.x, b = t * TILE + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = row < M && a < K ? A[row * K + a] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = b < K && col < N ? B[b * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}

void cpu_matmul(const float *A, const float *B, float *C, int M, int N, int K) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < N; ++j) {
            float s = 0;
            for (int k = 0; k < K; ++k) s += A[i * K + k] * B[k * N + j];
            C[i * N + j] = s;
        }
}

int main(void) {
    int m = 512, n = 768, k = 640;
    float *A = new float[m * k], *B = new float[k * n], *C = new float[m * n];
    for (int i = 0; i < m * k; i++) A[i] = i % 7;
    for (int i = 0; i < k * n; i++) B[i] = i % 5;
    float *dA, *dB, *dC;
    cudaMalloc((void **)&dA, sizeof(float) * m * k);
    cudaMalloc((void **)&dB, sizeof(float) * k * n);
    cudaMalloc((void **)&dC, sizeof(float) * m * n);
    cudaMemcpy(dA, A, sizeof(float) * m * k, cudaMemcpyHostToDevice);
    cudaMemcpy(dB, B, sizeof(float) * k * n, cudaMemcpyHostToDevice);
    dim3 block(TILE, TILE);
    dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    cudaEvent_t start, stop;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    matmul<<<grid, block>>>(dA, dB, dC, m, n, k);
    cudaEventRecord(stop);
    cudaMemcpy(C, dC, sizeof(float) * m * n, cudaMemcpyDeviceToHost);
    float ms;
    cudaEventElapsedTime(&ms, start, stop);
    printf("%.3f ms, C[0] = %f\n", ms, C[0]);
    cudaFree(dA); cudaFree(dB); cudaFree(dC);
    delete[] A; delete[] B; delete[] C;
}
