/*---
launches:
  - kernel: softmax_struct
    grid: [R]
    block: [64]
    args: [x, y, C]
---*/
// A device function that waits and returns a struct; another takes it by reference.
struct Row {
    float largest;
    float sum;
};

__device__ Row statistics(const float* in, int C) {
    __shared__ Row of_thread[64];
    Row mine{-3.402823466e+38f, 0.0f};
    for (int c = threadIdx.x; c < C; c += 64) {
        const float larger = fmaxf(mine.largest, in[c]);
        mine = {larger, mine.sum * expf(mine.largest - larger) + expf(in[c] - larger)};
    }
    of_thread[threadIdx.x] = mine;
    __syncthreads();
    Row all{-3.402823466e+38f, 0.0f};
    for (const Row& r : of_thread) all.largest = fmaxf(all.largest, r.largest);
    for (const Row& r : of_thread) all.sum += r.sum * expf(r.largest - all.largest);
    return all;
}

__device__ void write(float* out, const float* in, int C, const Row& row) {
    for (int c = threadIdx.x; c < C; c += 64) out[c] = expf(in[c] - row.largest) / row.sum;
}

__global__ void softmax_struct(const float* x, float* y, int C) {
    const size_t at = (size_t)blockIdx.x * C;
    const Row row = statistics(x + at, C);
    write(y + at, x + at, C, row);
}
