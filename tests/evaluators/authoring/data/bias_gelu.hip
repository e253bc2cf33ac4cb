#include "hip/hip_runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <assert.h>

#define THREADS_PER_BLOCK 256
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

#define CHECK(cmd)                                                                     \
    {                                                                                  \
        hipError_t error = cmd;                                                        \
        if (error != hipSuccess) {                                                     \
            fprintf(stderr, "error: '%s' at %d\n", hipGetErrorString(error), __LINE__); \
            exit(EXIT_FAILURE);                                                        \
        }                                                                              \
    }

// tanh's approximation
__device__ __forceinline__ float gelu(float v) {
    const float k = 0.7978845608f;
    return 0.5f * v * (1.0f + tanhf(k * (v + 0.044715f * v * v * v)));
}

__global__ void bias_gelu_kernel(float* out, const float* in, const float* bias, int rows, int cols) {
    int index = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    int total = rows * cols;
    if (index >= total) return;
    out[index] = gelu(in[index] + bias[index % cols]);
}

int main() {
    int rows = 1024;
    int cols = 3072;
    size_t count = (size_t)rows * cols;
    float *in_h = (float*)malloc(count * sizeof(float));
    float *bias_h = (float*)malloc(cols * sizeof(float));
    float *out_h = (float*)malloc(count * sizeof(float));
    for (size_t i = 0; i < count; i++) in_h[i] = (float)rand() / RAND_MAX;
    for (int i = 0; i < cols; i++) bias_h[i] = 0.01f * i;

    float *in_d, *bias_d, *out_d;
    CHECK(hipMalloc((void**)&in_d, count * sizeof(float)));
    CHECK(hipMalloc((void**)&bias_d, cols * sizeof(float)));
    CHECK(hipMalloc((void**)&out_d, count * sizeof(float)));
    CHECK(hipMemcpy(in_d, in_h, count * sizeof(float), hipMemcpyHostToDevice));
    CHECK(hipMemcpy(bias_d, bias_h, cols * sizeof(float), hipMemcpyHostToDevice));

    hipLaunchKernelGGL(bias_gelu_kernel, dim3(CEIL_DIV(count, THREADS_PER_BLOCK)),
                       dim3(THREADS_PER_BLOCK), 0, 0, out_d, in_d, bias_d, rows, cols);
    CHECK(hipGetLastError());
    CHECK(hipMemcpy(out_h, out_d, count * sizeof(float), hipMemcpyDeviceToHost));
    printf("%f\n", out_h[0]);
    return 0;
}
