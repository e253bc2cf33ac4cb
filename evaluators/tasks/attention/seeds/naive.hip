/*---
launches:
  - kernel: attention<T>
    grid: [L, H, B]
    block: [128]
    lds_bytes: "8 * D"
    args: [q, k, v, o, H, G, L, S, D, causal]
---*/
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

extern __shared__ float rows[];  // the query, then the sum of values: D elements each

// A block a query: keys in tiles of 128, one a thread, with a running largest score and sum.
template <typename T>
__global__ void attention(const T* q, const T* k, const T* v, T* o, int H, int G, int L, int S,
                          int D, bool causal) {
    __shared__ float score[128];
    __shared__ float part[128];
    int t = threadIdx.x;
    int i = blockIdx.x;
    size_t head = (size_t)blockIdx.z * H + blockIdx.y;
    size_t group = (size_t)blockIdx.z * G + blockIdx.y / (H / G);
    q += (head * L + i) * D;
    o += (head * L + i) * D;
    k += group * S * D;
    v += group * S * D;
    float* query = rows;
    float* sums = rows + D;
    float scale = 1.0f / sqrtf((float)D);
    for (int d = t; d < D; d += 128) {
        query[d] = (float)q[d] * scale;
        sums[d] = 0.0f;
    }
    __syncthreads();

    int keys = causal ? i + S - L + 1 : S;
    float largest = -3.0e38f;
    float total = 0.0f;
    for (int first = 0; first < keys; first += 128) {
        int j = first + t;
        float mine = -3.0e38f;
        if (j < keys) {
            mine = 0.0f;
            for (int d = 0; d < D; ++d) {
                mine += query[d] * (float)k[(size_t)j * D + d];
            }
        }
        part[t] = mine;
        __syncthreads();
        for (int width = 64; width > 0; width /= 2) {
            if (t < width) {
                part[t] = fmaxf(part[t], part[t + width]);
            }
            __syncthreads();
        }
        float top = fmaxf(largest, part[0]);
        __syncthreads();

        float e = j < keys ? expf(mine - top) : 0.0f;
        score[t] = e;
        part[t] = e;
        __syncthreads();
        for (int width = 64; width > 0; width /= 2) {
            if (t < width) {
                part[t] += part[t + width];
            }
            __syncthreads();
        }
        float shrink = expf(largest - top);
        total = total * shrink + part[0];
        largest = top;

        int count = min(128, keys - first);
        for (int d = t; d < D; d += 128) {
            float sum = sums[d] * shrink;
            for (int n = 0; n < count; ++n) {
                sum += score[n] * (float)v[(size_t)(first + n) * D + d];
            }
            sums[d] = sum;
        }
        __syncthreads();
    }
    for (int d = t; d < D; d += 128) {
        o[d] = T(sums[d] / total);
    }
}
