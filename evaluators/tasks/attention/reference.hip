/*---
launches:
  - kernel: attention<T>
    grid: [L, H, B]
    block: [128]
    lds_bytes: "16 * D"
    args: [q, k, v, o, H, G, L, S, D, causal]
---*/
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
extern __shared__ double rows[];  // the query, then the sum of values: D elements each

// Attention in double precision: a block for each query, tiles of 128 keys.
template <typename T>
__global__ void attention(const T* q, const T* k, const T* v, double* o, int H, int G, int L, int S,
                          int D, bool causal) {
    __shared__ double score[128], part[128];
    int t = threadIdx.x, i = blockIdx.x;
    size_t head = (size_t)blockIdx.z * H + blockIdx.y;
    size_t group = (size_t)blockIdx.z * G + blockIdx.y / (H / G);
    double *query = rows, *sums = rows + D, largest = -1e300, total = 0;
    q += (head * L + i) * D;
    o += (head * L + i) * D;
    k += group * S * D;
    v += group * S * D;
    for (int d = t; d < D; d += 128) {
        query[d] = (double)(float)q[d] / sqrt((double)D);
        sums[d] = 0;
    }
    int keys = causal ? i + S - L + 1 : S;
    for (int first = 0; first < keys; first += 128) {
        __syncthreads();
        double mine = -1e300;
        if (first + t < keys) {
            mine = 0;
            for (int d = 0; d < D; ++d) mine += query[d] * (float)k[(size_t)(first + t) * D + d];
        }
        part[t] = mine;
        for (int width = 64; width > 0; width /= 2) {
            __syncthreads();
            if (t < width) part[t] = fmax(part[t], part[t + width]);
        }
        __syncthreads();
        double top = fmax(largest, part[0]), shrink = exp(largest - top);
        score[t] = first + t < keys ? exp(mine - top) : 0.0;
        __syncthreads();
        part[t] = score[t];
        for (int width = 64; width > 0; width /= 2) {
            __syncthreads();
            if (t < width) part[t] += part[t + width];
        }
        __syncthreads();
        total = total * shrink + part[0];
        for (int d = t; d < D; d += 128) {
            double sum = sums[d] * shrink;
            for (int n = 0; n < min(128, keys - first); ++n)
                sum += score[n] * (float)v[(size_t)(first + n) * D + d];
            sums[d] = sum;
        }
        largest = top;
    }
    for (int d = t; d < D; d += 128) o[d] = sums[d] / total;
}
