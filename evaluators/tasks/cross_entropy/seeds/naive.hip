/*---
launches:
  - kernel: cross_entropy
    grid: [R]
    block: [256]
    args: [logits, target, loss, dlogits, V]
---*/
// A block a row, in three passes: largest logit, sum of exponentials, loss and gradient.
__global__ void cross_entropy(const float* logits, const long long* target, float* loss,
                              float* dlogits, int V) {
    __shared__ float part[256];
    int t = threadIdx.x;
    const float* in = logits + (size_t)blockIdx.x * V;
    float* out = dlogits + (size_t)blockIdx.x * V;

    float largest = in[0];
    for (int v = t; v < V; v += 256) {
        largest = fmaxf(largest, in[v]);
    }
    part[t] = largest;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) {
            part[t] = fmaxf(part[t], part[t + width]);
        }
        __syncthreads();
    }
    largest = part[0];
    __syncthreads();

    float sum = 0.0f;
    for (int v = t; v < V; v += 256) {
        sum += expf(in[v] - largest);
    }
    part[t] = sum;
    __syncthreads();
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) {
            part[t] += part[t + width];
        }
        __syncthreads();
    }
    sum = part[0];

    long long wanted = target[blockIdx.x];
    for (int v = t; v < V; v += 256) {
        float p = expf(in[v] - largest) / sum;
        out[v] = v == wanted ? p - 1.0f : p;
    }
    if (t == 0) {
        loss[blockIdx.x] = logf(sum) - (in[wanted] - largest);
    }
}
