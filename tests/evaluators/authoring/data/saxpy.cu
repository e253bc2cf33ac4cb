#include <cuda_runtime.h>
#include <iostream>
#include <cstdlib>

// y = a x + y over managed memory, with a loop over the grid.
__global__ void saxpy(size_t n, float a, const float *x, float *y)
{
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        y[i] = a * x[i] + y[i];
}

static void fill(float *p, size_t n, float value)
{
    for (size_t i = 0; i < n; ++i)
        p[i] = value;
}

int main(int argc, char **argv)
{
    size_t n = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1000000;
    const float alpha = 2.5f;
    float *x = nullptr, *y = nullptr;
    cudaMallocManaged(&x, n * sizeof(float));
    cudaMallocManaged(&y, n * sizeof *y);
    fill(x, n, 1.0f);
    fill(y, n, 2.0f);

    for (int warm = 0; warm < 3; ++warm)
        saxpy<<<1024, 128>>>(n, alpha, x, y);
    cudaDeviceSynchronize();
    std::cout << "y[0] = " << y[0] << std::endl;
    cudaFree(x);
    cudaFree(y);
    return EXIT_SUCCESS;
}
