/*---
launches:
  - kernel: label_runs
    grid: [ROWS]
    block: [128]
    args: [cells, labels, COLS]
---*/
#include <hip/hip_runtime.h>

// One thread per cell, COLS <= 128. In every round a cell takes over the label of its left
// neighbour if both are in the same run; the block is done when no cell changed.
__global__ void label_runs(const int* cells, int* labels, int cols)
{
    __shared__ int cell[128];
    __shared__ int label[128];
    __shared__ int changed;

    const int t = threadIdx.x;
    const bool valid = t < cols;
    cell[t] = valid ? cells[blockIdx.x * cols + t] : -1;
    label[t] = t;
    __syncthreads();

    const bool joined = valid && t > 0 && cell[t - 1] == cell[t];

    bool again;
    do {
        if (t == 0) changed = 0;
        __syncthreads();

        int mine = label[t];
        int left = joined ? label[t - 1] : mine;
        __syncthreads();

        if (left < mine) {
            label[t] = left;
            atomicAdd(&changed, 1);
        }
        __syncthreads();

        again = changed != 0;
        __syncthreads();   // all have read the flag before it is cleared
    } while (again);

    if (valid) labels[blockIdx.x * cols + t] = label[t];
}
