/*---
launches:
  - kernel: layer_norm
    grid: [R]
    block: [256]
    args: [x, gamma, beta, y, C, eps]
---*/
// A block a row, in three passes: mean, variance, normalisation; sums are trees in LDS.
__global__ void layer_norm(const float* x, const float* gamma, const float* beta, float* y, int C,
                           float eps) {
    __shared__ float part[256];
    int t = threadIdx.x;
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;

    float sum = 0.0f;
    for (int c = t; c < C; c += 256) {
        sum += in[c];
    }
    part[t] = sum;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) {
            part[t] += part[t + width];
        }
        __syncthreads();
    }
    float mean = part[0] / C;
    __syncthreads();

    float squares = 0.0f;
    for (int c = t; c < C; c += 256) {
        float d = in[c] - mean;
        squares += d * d;
    }
    part[t] = squares;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) {
            part[t] += part[t + width];
        }
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(part[0] / C + eps);

    for (int c = t; c < C; c += 256) {
        out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
    }
}
