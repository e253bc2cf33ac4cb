#include <hip/hip_runtime.h>
#include <algorithm>
#include <iostream>
#include <numeric>
#include <vector>

namespace demo {

constexpr unsigned int width = 1920;
constexpr unsigned int height = 1080;
constexpr unsigned int tile = 32;
constexpr unsigned int rows_per_block = 8;

template <typename T, unsigned int TileDim, unsigned int Rows>
__global__ __launch_bounds__(TileDim * Rows) void transpose(T* __restrict__ out,
                                                             const T* __restrict__ in,
                                                             unsigned int w, unsigned int h) {
    __shared__ T staged[TileDim][TileDim + 1];
    const unsigned int x = blockIdx.x * TileDim + threadIdx.x;
    const unsigned int y = blockIdx.y * TileDim + threadIdx.y;
    for (unsigned int j = 0; j < TileDim; j += Rows)
        if (x < w && y + j < h) staged[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    const unsigned int tx = blockIdx.y * TileDim + threadIdx.x;
    const unsigned int ty = blockIdx.x * TileDim + threadIdx.y;
    for (unsigned int j = 0; j < TileDim; j += Rows)
        if (tx < h && ty + j < w) out[(ty + j) * h + tx] = staged[threadIdx.x][threadIdx.y + j];
}

}  // namespace demo

int main() {
    using namespace demo;
    std::vector<float> input(width * height);
    std::iota(input.begin(), input.end(), 0.0f);
    std::vector<float> output(input.size());

    float* d_in{};
    float* d_out{};
    if (hipMalloc(&d_in, input.size() * sizeof(float)) != hipSuccess) return 1;
    if (hipMalloc(&d_out, output.size() * sizeof(float)) != hipSuccess) return 1;
    if (hipMemcpy(d_in, input.data(), input.size() * sizeof(float), hipMemcpyHostToDevice) != hipSuccess) return 1;

    const dim3 threads(tile, rows_per_block);
    const dim3 blocks((width + tile - 1) / tile, (height + tile - 1) / tile);
    demo::transpose<float, tile, rows_per_block><<<blocks, threads, 0, hipStreamDefault>>>(d_out, d_in, width, height);

    if (hipMemcpy(output.data(), d_out, output.size() * sizeof(float), hipMemcpyDeviceToHost) != hipSuccess) return 1;
    std::cout << (output[1] == input[width] ? "right" : "wrong") << '\n';
    (void)hipFree(d_in);
    (void)hipFree(d_out);
}
