/*---
launches:
  - kernel: softmax_phases
    grid: [R]
    block: [64]
    args: [x, y, C]
---*/
// A small state machine: one loop, three phases.
enum class Phase : int { Maximum, Sum, Write, Done };

__global__ void softmax_phases(const float* x, float* y, int C) {
    __shared__ float lds[64];
    const float* in = x + (size_t)blockIdx.x * C;
    float* out = y + (size_t)blockIdx.x * C;
    float m = in[0], s = 0.0f;
    Phase phase = Phase::Maximum;
    while (phase != Phase::Done) {
        switch (phase) {
            case Phase::Maximum: {
                float v = in[0];
                for (int c = threadIdx.x; c < C; c += 64) v = fmaxf(v, in[c]);
                lds[threadIdx.x] = v;
                __syncthreads();
                for (int i = 0; i < 64; ++i) m = fmaxf(m, lds[i]);
                __syncthreads();
                phase = Phase::Sum;
                break;
            }
            case Phase::Sum: {
                float v = 0.0f;
                for (int c = threadIdx.x; c < C; c += 64) v += expf(in[c] - m);
                lds[threadIdx.x] = v;
                __syncthreads();
                for (int i = 0; i < 64; ++i) s += lds[i];
                phase = Phase::Write;
                break;
            }
            default: {
                for (int c = threadIdx.x; c < C; c += 64) out[c] = expf(in[c] - m) / s;
                phase = Phase::Done;
                break;
            }
        }
    }
}
