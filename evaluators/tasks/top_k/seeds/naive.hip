/*---
launches:
  - kernel: top_k
    grid: [R]
    block: [256]
    args: [x, values, indices, C, K]
---*/
// A block a row, in K rounds: each finds the largest element that comes after the last one found.
__global__ void top_k(const float* x, float* values, int* indices, int C, int K) {
    __shared__ float best[256];
    __shared__ int place[256];  // its column, or C where there is none
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * C;
    float last = 0.0f;
    int last_place = -1;
    for (int k = 0; k < K; ++k) {
        float mine = 0.0f;
        int at = C;
        for (int c = t; c < C; c += 256) {
            float v = row[c];
            bool after = k == 0 || v < last || (v == last && c > last_place);
            if (after && (at == C || v > mine)) {
                mine = v;
                at = c;
            }
        }
        best[t] = mine;
        place[t] = at;
        __syncthreads();
        for (int width = 128; width > 0; width /= 2) {
            if (t < width && place[t + width] < C) {
                float other = best[t + width];
                bool smaller = best[t] < other || (best[t] == other && place[t + width] < place[t]);
                if (place[t] == C || smaller) {
                    best[t] = other;
                    place[t] = place[t + width];
                }
            }
            __syncthreads();
        }
        last = best[0];
        last_place = place[0];
        if (t == 0) {
            values[(size_t)blockIdx.x * K + k] = last;
            indices[(size_t)blockIdx.x * K + k] = last_place;
        }
        __syncthreads();
    }
}
