/*---
launches:
  - {memset: {buffer: count, byte: 0}}
  - {memset: {buffer: y, byte: 0}}
  - kernel: route
    grid: ["B * S"]
    block: [128]
    lds_bytes: "8 * E"
    args: [x, router, score, count, list, {value: "B * S", type: int32}, E, D]
  - kernel: hidden
    grid: ["ceil_div(F, 64)", "ceil_div(B * S, 64)", "E + 1"]
    block: [16, 8]
    args: [x, gate, up, shared_gate, shared_up, count, list, h, {value: "B * S", type: int32},
           E, D, F]
  - kernel: output
    repeat: {expert: "E + 1"}
    grid: ["ceil_div(D, 64)", "ceil_div(B * S, 64)"]
    block: [16, 8]
    args: [h, down, shared_down, score, count, list, y, {value: "B * S", type: int32},
           {value: expert, type: int32}, E, D, F]
scratch:
  score: "40 * B * S"
  count: "4 * E + 4"
  list: "4 * (E + 1) * B * S"
  h: "40 * B * S * F"
---*/
#include <hip/hip_fp16.h>
// A mixture of experts in double precision, T tokens. Slot s of token t is 5 t + s; the last is the
// shared expert's, which is number E. Expert e has count[e] slots, list[e T] and those behind it.
extern __shared__ double logits[];

// A block a token: logits, softmax, and the token in the lists of its experts.
__global__ void route(const __half* x, const __half* router, double* score, int* count, int* list,
                      int T, int E, int D) {
    __shared__ double part[128];
    int thread = threadIdx.x, t = blockIdx.x;
    for (int e = 0; e < E; ++e) {
        double sum = 0;
        for (int k = thread; k < D; k += 128)
            sum += (double)__half2float(x[(size_t)t * D + k]) * __half2float(router[e * D + k]);
        part[thread] = sum;
        for (int width = 64; width > 0; width /= 2) {
            __syncthreads();
            if (thread < width) part[thread] += part[thread + width];
        }
        if (thread == 0) logits[e] = part[0];
        __syncthreads();
    }
    if (thread != 0) return;
    double largest = logits[0], total = 0;
    for (int e = 1; e < E; ++e) largest = fmax(largest, logits[e]);
    for (int e = 0; e < E; ++e) total += exp(logits[e] - largest);
    for (int s = 0; s < 4; ++s) {
        int best = 0;
        for (int e = 1; e < E; ++e)
            if (logits[e] > logits[best]) best = e;
        score[5 * t + s] = exp(logits[best] - largest) / total;
        list[(size_t)best * T + atomicAdd(&count[best], 1)] = 5 * t + s;
        logits[best] = -1e300;
    }
    score[5 * t + 4] = 1;
    list[(size_t)E * T + t] = 5 * t + 4;
    if (t == 0) count[E] = T;
}

// h = silu(x gate) * (x up) for 64 slots of an expert: 8 x 4 elements a thread, from tiles in LDS.
__global__ void hidden(const __half* x, const __half* gate, const __half* up,
                       const __half* shared_gate, const __half* shared_up, const int* count,
                       const int* list, double* h, int T, int E, int D, int F) {
    __shared__ double left[16][65], gates[16][65], ups[16][65];
    int across = threadIdx.x, below = threadIdx.y, thread = below * 16 + across, e = blockIdx.z;
    int top = blockIdx.y * 64, side = blockIdx.x * 64, rows = count[e] - top;
    if (rows <= 0) return;
    list += (size_t)e * T + top;
    gate = e == E ? shared_gate : gate + (size_t)e * D * F;
    up = e == E ? shared_up : up + (size_t)e * D * F;
    double g[8][4] = {}, u[8][4] = {};
    for (int k = 0; k < D; k += 16) {
        for (int i = thread; i < 16 * 64; i += 128) {
            int row = i / 16, at = k + i % 16, col = side + i % 64;
            size_t weight = (size_t)(k + i / 64) * F + col;
            bool has_x = row < rows && at < D, has_w = k + i / 64 < D && col < F;
            left[i % 16][row] = has_x ? __half2float(x[(size_t)(list[row] / 5) * D + at]) : 0.0f;
            gates[i / 64][i % 64] = has_w ? __half2float(gate[weight]) : 0.0f;
            ups[i / 64][i % 64] = has_w ? __half2float(up[weight]) : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            for (int n = 0; n < 4; ++n) {
                double of_gate = gates[i][across + 16 * n], of_up = ups[i][across + 16 * n];
                for (int m = 0; m < 8; ++m) {
                    g[m][n] += left[i][below + 8 * m] * of_gate;
                    u[m][n] += left[i][below + 8 * m] * of_up;
                }
            }
        __syncthreads();
    }
    for (int m = 0; m < 8; ++m)
        for (int n = 0; n < 4; ++n) {
            int row = below + 8 * m, col = side + across + 16 * n;
            if (row < rows && col < F)
                h[(size_t)list[row] * F + col] = g[m][n] / (1 + exp(-g[m][n])) * u[m][n];
        }
}

// y += score * (h down) for 64 slots of expert e, no two of which are of one token.
__global__ void output(const double* h, const __half* down, const __half* shared_down,
                       const double* score, const int* count, const int* list, double* y, int T,
                       int e, int E, int D, int F) {
    __shared__ double left[16][65], right[16][65];
    int across = threadIdx.x, below = threadIdx.y, thread = below * 16 + across;
    int top = blockIdx.y * 64, side = blockIdx.x * 64, rows = count[e] - top;
    if (rows <= 0) return;
    list += (size_t)e * T + top;
    down = e == E ? shared_down : down + (size_t)e * F * D;
    double sums[8][4] = {};
    for (int k = 0; k < F; k += 16) {
        for (int i = thread; i < 16 * 64; i += 128) {
            int row = i / 16, at = k + i % 16, col = side + i % 64;
            size_t weight = (size_t)(k + i / 64) * D + col;
            bool has_h = row < rows && at < F, has_w = k + i / 64 < F && col < D;
            left[i % 16][row] = has_h ? h[(size_t)list[row] * F + at] : 0.0;
            right[i / 64][i % 64] = has_w ? __half2float(down[weight]) : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            for (int m = 0; m < 8; ++m)
                for (int n = 0; n < 4; ++n)
                    sums[m][n] += left[i][below + 8 * m] * right[i][across + 16 * n];
        __syncthreads();
    }
    for (int m = 0; m < 8; ++m)
        for (int n = 0; n < 4; ++n) {
            int row = below + 8 * m, col = side + across + 16 * n;
            if (row < rows && col < D)
                y[(size_t)(list[row] / 5) * D + col] += score[list[row]] * sums[m][n];
        }
}
