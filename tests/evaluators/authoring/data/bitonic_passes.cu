#include <cuda_runtime.h>
#include <cstdio>

__global__ void bitonic_pass(int *keys, int j, int k) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    int other = i ^ j;
    if (other > i) {
        bool up = (i & k) == 0;
        if ((keys[i] > keys[other]) == up) {
            int held = keys[i];
            keys[i] = keys[other];
            keys[other] = held;
        }
    }
}

int main() {
    const int N = 1 << 16;
    int *d_keys;
    cudaMalloc(&d_keys, N * sizeof(int));
    for (int k = 2; k <= N; k <<= 1)
        for (int j = k >> 1; j > 0; j >>= 1)
            bitonic_pass<<<N / 512, 512>>>(d_keys, j, k);
    cudaDeviceSynchronize();
}
