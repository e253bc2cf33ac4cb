#include <hip/hip_runtime.h>
#include <float.h>
#include <random>
#include <vector>

// One block a row. Scores are scaled before the exponentials, as in attention.
template <int BLOCK>
__global__ void softmax_rows(const float* scores, float* probs, int cols, float scale) {
    __shared__ float buffer[BLOCK];
    const float* row = scores + (size_t)blockIdx.x * cols;
    float* out = probs + (size_t)blockIdx.x * cols;
    float best = -FLT_MAX;
    for (int c = threadIdx.x; c < cols; c += BLOCK) best = fmaxf(best, row[c] * scale);
    buffer[threadIdx.x] = best;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) buffer[threadIdx.x] = fmaxf(buffer[threadIdx.x], buffer[threadIdx.x + s]);
        __syncthreads();
    }
    best = buffer[0];
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += BLOCK) sum += expf(row[c] * scale - best);
    buffer[threadIdx.x] = sum;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) buffer[threadIdx.x] += buffer[threadIdx.x + s];
        __syncthreads();
    }
    sum = buffer[0];
    for (int c = threadIdx.x; c < cols; c += BLOCK) out[c] = expf(row[c] * scale - best) / sum;
}

static void softmax(const float* d_scores, float* d_probs, int rows, int cols, float scale,
                    hipStream_t stream) {
    constexpr int kBlock = 128;
    hipLaunchKernelGGL(HIP_KERNEL_NAME(softmax_rows<kBlock>), dim3(rows), dim3(kBlock), 0, stream,
                       d_scores, d_probs, cols, scale);
}

int main() {
    const int heads = 16, length = 777;
    const int rows = heads * length;
    std::mt19937 gen(1);
    std::normal_distribution<float> normal;
    std::vector<float> h(rows * length);
    for (auto& v : h) v = normal(gen);
    float *scores, *probs;
    hipMalloc(&scores, h.size() * sizeof(float));
    hipMalloc(&probs, h.size() * sizeof(float));
    hipMemcpy(scores, h.data(), h.size() * sizeof(float), hipMemcpyHostToDevice);
    hipStream_t stream;
    hipStreamCreate(&stream);
    softmax(scores, probs, rows, length, 0.125f, stream);
    hipStreamSynchronize(stream);
    hipMemcpy(h.data(), probs, h.size() * sizeof(float), hipMemcpyDeviceToHost);
    return 0;
}
