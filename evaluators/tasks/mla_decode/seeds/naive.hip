/*---
launches:
  - kernel: project<__hip_bfloat16, float>
    grid: ["ceil_div(R, 64)", B]
    block: [64]
    args: [x, q_down, q_latent, D, R, R, {value: "0", type: int32}]
  - kernel: project<__hip_bfloat16, __hip_bfloat16>
    grid: ["ceil_div(C + P, 64)", B]
    block: [64]
    args: [x, kv_down, cache, D, {value: "C + P", type: int32}, {value: "T * (C + P)", type: int32},
           {value: "L * (C + P)", type: int32}]
  - kernel: project<float, float>
    grid: ["ceil_div(H * (N + P), 64)", B]
    block: [64]
    args: [q_latent, q_up, q, R, {value: "H * (N + P)", type: int32},
           {value: "H * (N + P)", type: int32}, {value: "0", type: int32}]
  - kernel: rotations
    grid: ["ceil_div((L + 1) * (P // 2), 64)"]
    block: [64]
    args: [cosine, sine, L, P]
  - kernel: absorb
    grid: ["ceil_div(C + P, 64)", H, B]
    block: [64]
    args: [q, kv_up, cosine, sine, query, C, N, P, V, L]
  - kernel: attention
    grid: [H, B]
    block: [128]
    lds_bytes: "4 * (2 * C + P)"
    args: [query, cache, cosine, sine, mean, C, N, P, T, L]
  - kernel: values
    grid: ["ceil_div(V, 64)", H, B]
    block: [64]
    args: [mean, kv_up, o, C, N, V]
  - kernel: project<float, __hip_bfloat16>
    grid: ["ceil_div(D, 64)", B]
    block: [64]
    args: [o, wo, y, {value: "H * V", type: int32}, D, D, {value: "0", type: int32}]
scratch:
  q_latent: "4 * B * R"
  q: "4 * B * H * (N + P)"
  cosine: "4 * (L + 1) * (P // 2)"
  sine: "4 * (L + 1) * (P // 2)"
  query: "4 * B * H * (C + P)"
  mean: "4 * B * H * C"
  o: "4 * B * H * V"
---*/
#include <hip/hip_bf16.h>

// out[b, n] = sum of x[b, k] w[n, k]: an output a thread. Row b of out begins at stride b + start.
template <typename In, typename Out>
__global__ void project(const In* x, const __hip_bfloat16* w, Out* out, int K, int N, int stride,
                        int start) {
    int n = blockIdx.x * blockDim.x + threadIdx.x;
    size_t b = blockIdx.y;
    if (n < N) {
        float sum = 0.0f;
        for (int k = 0; k < K; ++k) {
            sum += (float)x[b * K + k] * __bfloat162float(w[(size_t)n * K + k]);
        }
        out[b * stride + start + n] = Out(sum);
    }
}

// cos and sin of positions 0 to L: (L + 1) x P / 2, rounded to bfloat16.
__global__ void rotations(float* cosine, float* sine, int L, int P) {
    int half = P / 2;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (L + 1) * half) {
        float turn = (float)pow(10000.0, -(double)(i % half) / half);
        float angle = (float)(i / half) * turn;
        cosine[i] = __bfloat162float(__float2bfloat16((float)cos((double)angle)));
        sine[i] = __bfloat162float(__float2bfloat16((float)sin((double)angle)));
    }
}

// The query as the cache's rows meet it, C + P elements a head: its plain part times the head's
// keys of kv_up, then its other part, turned by position L.
__global__ void absorb(const float* q, const __hip_bfloat16* kv_up, const float* cosine,
                       const float* sine, float* query, int C, int N, int P, int V, int L) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    size_t h = blockIdx.y;
    size_t head = (size_t)blockIdx.z * gridDim.y + h;
    q += head * (N + P);
    query += head * (C + P);
    if (c < C) {
        float sum = 0.0f;
        for (int n = 0; n < N; ++n) {
            sum += q[n] * __bfloat162float(kv_up[(h * (N + V) + n) * C + c]);
        }
        query[c] = sum;
    } else if (c < C + P) {
        int half = P / 2;
        int i = c - C;
        float co = cosine[L * half + i % half];
        float si = sine[L * half + i % half];
        float other = i < half ? -q[N + i + half] : q[N + i - half];
        query[c] = q[N + i] * co + other * si;
    }
}

extern __shared__ float rows[];  // the query, C + P elements, then the sum of C values

// A block a sequence and head: keys in tiles of 128, one a thread, with a running largest score
// and sum.
__global__ void attention(const float* query, const __hip_bfloat16* cache, const float* cosine,
                          const float* sine, float* mean, int C, int N, int P, int T, int L) {
    __shared__ float score[128];
    __shared__ float part[128];
    int t = threadIdx.x;
    int half = P / 2;
    size_t head = (size_t)blockIdx.y * gridDim.x + blockIdx.x;
    cache += (size_t)blockIdx.y * T * (C + P);
    float* given = rows;
    float* sums = rows + C + P;
    float scale = 1.0f / sqrtf((float)(N + P));
    for (int c = t; c < C + P; c += 128) {
        given[c] = query[head * (C + P) + c] * scale;
    }
    for (int c = t; c < C; c += 128) {
        sums[c] = 0.0f;
    }
    __syncthreads();

    float largest = -3.0e38f;
    float total = 0.0f;
    for (int first = 0; first <= L; first += 128) {
        int j = first + t;
        float mine = -3.0e38f;
        if (j <= L) {
            const __hip_bfloat16* key = cache + (size_t)j * (C + P);
            mine = 0.0f;
            for (int c = 0; c < C; ++c) {
                mine += given[c] * __bfloat162float(key[c]);
            }
            for (int i = 0; i < half; ++i) {
                float co = cosine[j * half + i];
                float si = sine[j * half + i];
                float x1 = __bfloat162float(key[C + i]);
                float x2 = __bfloat162float(key[C + half + i]);
                mine += given[C + i] * (x1 * co - x2 * si);
                mine += given[C + half + i] * (x2 * co + x1 * si);
            }
        }
        part[t] = mine;
        __syncthreads();
        for (int width = 128 / 2; width > 0; width /= 2) {
            if (t < width) {
                part[t] = fmaxf(part[t], part[t + width]);
            }
            __syncthreads();
        }
        float top = fmaxf(largest, part[0]);
        __syncthreads();

        float e = j <= L ? expf(mine - top) : 0.0f;
        score[t] = e;
        part[t] = e;
        __syncthreads();
        for (int width = 128 / 2; width > 0; width /= 2) {
            if (t < width) {
                part[t] += part[t + width];
            }
            __syncthreads();
        }
        float shrink = expf(largest - top);
        total = total * shrink + part[0];
        largest = top;

        int count = min(128, L + 1 - first);
        for (int c = t; c < C; c += 128) {
            float sum = sums[c] * shrink;
            for (int n = 0; n < count; ++n) {
                sum += score[n] * __bfloat162float(cache[(size_t)(first + n) * (C + P) + c]);
            }
            sums[c] = sum;
        }
        __syncthreads();
    }
    for (int c = t; c < C; c += 128) {
        mean[head * C + c] = sums[c] / total;
    }
}

// o[b, h, v] = sum of mean[b, h, c] kv_up_v[h, v, c]: an output a thread.
__global__ void values(const float* mean, const __hip_bfloat16* kv_up, float* o, int C, int N,
                       int V) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    size_t h = blockIdx.y;
    size_t head = (size_t)blockIdx.z * gridDim.y + h;
    if (v < V) {
        float sum = 0.0f;
        for (int c = 0; c < C; ++c) {
            sum += mean[head * C + c] * __bfloat162float(kv_up[(h * (N + V) + N + v) * C + c]);
        }
        o[head * V + v] = sum;
    }
}
