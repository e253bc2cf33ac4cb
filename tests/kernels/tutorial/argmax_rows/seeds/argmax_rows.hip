/*---
launches:
  - kernel: argmax_kernel
    grid: [ROWS]
    block: [64]
    args: [scores, COLS, best, where]
---*/
#include <hip/hip_runtime.h>

typedef struct {
    float value;
    int   index;
} candidate_t;

static __device__ inline bool beats(candidate_t a, candidate_t b)
{
    return a.value > b.value || (a.value == b.value && a.index < b.index);
}

__global__ void argmax_kernel(const float *scores, int cols, float *best, int *where)
{
    __shared__ candidate_t cand[64];
    const int tid = threadIdx.x;
    const int row = blockIdx.x;

    candidate_t c;
    c.value = -3.402823466e+38f;
    c.index = 0x7fffffff;
    for (int j = tid; j < cols; j += 64) {
        candidate_t other = { scores[(long long)row * cols + j], j };
        if (beats(other, c))
            c = other;
    }
    cand[tid] = c;

    for (unsigned int half = 32; half != 0; half /= 2) {
        __syncthreads();
        if (tid < half && beats(cand[tid + half], cand[tid]))
            cand[tid] = cand[tid + half];
    }

    /* thread 0 wrote cand[0] itself in the last round: no barrier needed */
    if (tid != 0)
        return;
    best[row]  = cand[0].value;
    where[row] = cand[0].index;
}
