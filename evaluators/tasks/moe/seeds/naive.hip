/*---
launches:
  - kernel: logits
    grid: ["ceil_div(B * S * E, 256)"]
    block: [256]
    args: [x, router, logit, {value: "B * S", type: int32}, E, D]
  - kernel: choose
    grid: ["ceil_div(B * S, 64)"]
    block: [64]
    args: [logit, expert, score, {value: "B * S", type: int32}, E]
  - kernel: hidden
    grid: ["ceil_div(F, 64)", "ceil_div(5 * B * S, 4)"]
    block: [64, 4]
    args: [x, gate, up, shared_gate, shared_up, expert, h, {value: "B * S", type: int32}, E, D, F]
  - kernel: output
    grid: ["ceil_div(D, 64)", "ceil_div(B * S, 4)"]
    block: [64, 4]
    args: [h, down, shared_down, expert, score, y, {value: "B * S", type: int32}, E, D, F]
scratch:
  logit: "4 * B * S * E"
  expert: "20 * B * S"
  score: "20 * B * S"
  h: "10 * B * S * F"
---*/
#include <hip/hip_fp16.h>

// A mixture of experts, T tokens. Each has five slots: the experts chosen, and the shared one,
// which is number E. Slot s of token t is at 5 t + s.

// One logit a thread: the product of a token and a row of the router.
__global__ void logits(const __half* x, const __half* router, float* logit, int T, int E, int D) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < T * E) {
        const __half* token = x + (size_t)(i / E) * D;
        const __half* weight = router + (size_t)(i % E) * D;
        float sum = 0.0f;
        for (int k = 0; k < D; ++k) {
            sum += __half2float(token[k]) * __half2float(weight[k]);
        }
        logit[i] = sum;
    }
}

// One token a thread: softmax over all experts, and the four with the largest logits.
__global__ void choose(const float* logit, int* expert, float* score, int T, int E) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < T) {
        logit += (size_t)t * E;
        int chosen[4];
        for (int slot = 0; slot < 4; ++slot) {
            int best = -1;
            for (int e = 0; e < E; ++e) {
                bool taken = false;
                for (int before = 0; before < slot; ++before) {
                    taken = taken || chosen[before] == e;
                }
                if (!taken && (best < 0 || logit[e] > logit[best])) {
                    best = e;
                }
            }
            chosen[slot] = best;
        }
        float largest = logit[chosen[0]];
        float total = 0.0f;
        for (int e = 0; e < E; ++e) {
            total += expf(logit[e] - largest);
        }
        for (int slot = 0; slot < 4; ++slot) {
            expert[5 * t + slot] = chosen[slot];
            score[5 * t + slot] = expf(logit[chosen[slot]] - largest) / total;
        }
        expert[5 * t + 4] = E;
        score[5 * t + 4] = 1.0f;
    }
}

// One element a thread of silu(x gate) * (x up), for each slot: h is 5 T x F.
__global__ void hidden(const __half* x, const __half* gate, const __half* up,
                       const __half* shared_gate, const __half* shared_up, const int* expert,
                       __half* h, int T, int E, int D, int F) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    int slot = blockIdx.y * blockDim.y + threadIdx.y;
    if (slot < 5 * T && f < F) {
        int e = expert[slot];
        const __half* token = x + (size_t)(slot / 5) * D;
        const __half* gates = e == E ? shared_gate : gate + (size_t)e * D * F;
        const __half* ups = e == E ? shared_up : up + (size_t)e * D * F;
        float g = 0.0f;
        float u = 0.0f;
        for (int k = 0; k < D; ++k) {
            g += __half2float(token[k]) * __half2float(gates[(size_t)k * F + f]);
            u += __half2float(token[k]) * __half2float(ups[(size_t)k * F + f]);
        }
        h[(size_t)slot * F + f] = __float2half(g / (1.0f + expf(-g)) * u);
    }
}

// One output a thread: the sum over slots of score * (h down).
__global__ void output(const __half* h, const __half* down, const __half* shared_down,
                       const int* expert, const float* score, __half* y, int T, int E, int D,
                       int F) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    int t = blockIdx.y * blockDim.y + threadIdx.y;
    if (t < T && d < D) {
        float total = 0.0f;
        for (int slot = 5 * t; slot < 5 * t + 5; ++slot) {
            int e = expert[slot];
            const __half* downs = e == E ? shared_down : down + (size_t)e * F * D;
            float sum = 0.0f;
            for (int f = 0; f < F; ++f) {
                sum += __half2float(h[(size_t)slot * F + f]) *
                       __half2float(downs[(size_t)f * D + d]);
            }
            total += score[slot] * sum;
        }
        y[(size_t)t * D + d] = __float2half(total);
    }
}
