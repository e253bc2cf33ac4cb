/*---
launches:
  - kernel: gelu_bias
    grid: ["ceil_div(R * C, THREADS)"]   # blocks; up to three numbers
    block: ["THREADS"]                   # threads of a block
    args: [x, bias, y, R, C]             # arguments of task.yaml by name, and dims (int32)
params: {THREADS: 256}                   # macros in the code, usable in expressions
space: {THREADS: [64, 128, 256, 512]}    # what may be tuned
---*/
// The baseline: a right kernel as a textbook has it. Speedups are over this one, and its own error
// says how exact other kernels must be. Device code only: the harness owns all host code.
__global__ void gelu_bias(const float* x, const float* bias, float* y, int R, int C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < R * C) {
        float v = x[i] + bias[i % C];
        y[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
    }
}
