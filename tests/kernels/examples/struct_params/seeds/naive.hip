/*---
launches:
  - kernel: affine
    grid: ["ceil_div(N, 256)"]
    block: [256]
    args:
      - x
      - y
      - struct: [N, {value: 1.5, type: float32}, {value: 0.25, type: float64}, {value: 1, type: bool}]
---*/
struct Params {
    int n;
    float scale;
    double shift;
    bool clamp;
};

__global__ void affine(const float* x, float* y, Params p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= p.n) return;
    float v = p.scale * x[i] + (float)p.shift;
    y[i] = p.clamp ? fminf(fmaxf(v, -1.0f), 1.0f) : v;
}
