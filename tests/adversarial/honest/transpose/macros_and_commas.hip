/*---
launches:
  - kernel: transp
    grid: ["ceil_div(R, 64)", "ceil_div(C, 4)"]
    block: [64, 4]
    args: [x, y, R, C]
---*/
// One line does it, once the macros are read.
#define AT(p, i, j, ld) (p)[(size_t)(i) * (ld) + (j)]
#define GLOBAL(d) (blockIdx.d * blockDim.d + threadIdx.d)
#define SWAP_COPY(dst, src, i, j, m, n) (AT(dst, j, i, m) = AT(src, i, j, n))

__global__ void transp(const float* src, float* dst, int m, int n) {
    int i = GLOBAL(x), j = GLOBAL(y);
    i < m && j < n ? (void)SWAP_COPY(dst, src, i, j, m, n) : (void)0;
}
