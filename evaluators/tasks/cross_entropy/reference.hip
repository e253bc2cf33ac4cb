/*---
launches:
  - {kernel: cross_entropy, grid: [R], block: [256], args: [logits, target, loss, dlogits, V]}
---*/
// Loss and gradient in double precision: a block for each row.
__global__ void cross_entropy(const float* logits, const long long* target, double* loss,
                              double* dlogits, int V) {
    __shared__ double part[256];
    const float* from = logits + (size_t)blockIdx.x * V;
    double* to = dlogits + (size_t)blockIdx.x * V;
    double largest = from[0];
    for (int v = threadIdx.x; v < V; v += 256) largest = fmax(largest, (double)from[v]);
    part[threadIdx.x] = largest;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width)
            part[threadIdx.x] = fmax(part[threadIdx.x], part[threadIdx.x + width]);
    }
    __syncthreads();
    largest = part[0];
    __syncthreads();
    double sum = 0;
    for (int v = threadIdx.x; v < V; v += 256) {
        to[v] = exp(from[v] - largest);
        sum += to[v];
    }
    part[threadIdx.x] = sum;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
    }
    __syncthreads();
    long long wanted = target[blockIdx.x];
    for (int v = threadIdx.x; v < V; v += 256) to[v] = to[v] / part[0] - (v == wanted);
    if (threadIdx.x == 0) loss[blockIdx.x] = log(part[0]) - (from[wanted] - largest);
}
