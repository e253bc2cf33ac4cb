// Element by element: c = a + b.
#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdio>
#include <vector>

#define HIP_CHECK(call)                                                   \
    do {                                                                  \
        hipError_t status = call;                                         \
        if (status != hipSuccess) {                                       \
            fprintf(stderr, "%s: %s\n", #call, hipGetErrorString(status)); \
            return 1;                                                     \
        }                                                                 \
    } while (0)

__global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                           float* __restrict__ c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
    }
}

int main() {
    const int N = 1 << 20;
    const size_t bytes = N * sizeof(float);
    std::vector<float> h_a(N), h_b(N), h_c(N);
    for (int i = 0; i < N; ++i) {
        h_a[i] = 0.5f * i;
        h_b[i] = 1.0f - i;
    }
    float *d_a, *d_b, *d_c;
    HIP_CHECK(hipMalloc(&d_a, bytes));
    HIP_CHECK(hipMalloc(&d_b, bytes));
    HIP_CHECK(hipMalloc(&d_c, bytes));
    HIP_CHECK(hipMemcpy(d_a, h_a.data(), bytes, hipMemcpyHostToDevice));
    HIP_CHECK(hipMemcpy(d_b, h_b.data(), bytes, hipMemcpyHostToDevice));

    int threads = 256;
    int blocks = (N + threads - 1) / threads;
    vector_add<<<blocks, threads>>>(d_a, d_b, d_c, N);
    HIP_CHECK(hipGetLastError());
    HIP_CHECK(hipMemcpy(h_c.data(), d_c, bytes, hipMemcpyDeviceToHost));

    int wrong = 0;
    for (int i = 0; i < N; ++i) {
        wrong += std::fabs(h_c[i] - (h_a[i] + h_b[i])) > 1e-5f;
    }
    printf("%d wrong\n", wrong);
    hipFree(d_a);
    hipFree(d_b);
    hipFree(d_c);
    return wrong != 0;
}
