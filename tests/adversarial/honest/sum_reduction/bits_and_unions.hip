/*---
launches:
  - {memset: {buffer: out, byte: 0}}
  - kernel: union_sum
    grid: [150]
    block: [192]
    args: [x, out, N]
---*/
// uint4 loads whose bits become floats; a block whose size is no power of two.
typedef union {
    uint4 bits;
    float value[4];
} Packet;

__global__ void union_sum(const float* x, float* out, int n) {
    __shared__ float s[192];
    const int id = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const uint4* packets = (const uint4*)x;
    float sum = 0.0f;
    for (int i = id; i < n / 4; i += threads) {
        Packet p;
        p.bits = packets[i];
        sum += (p.value[0] + p.value[1]) + (p.value[2] + p.value[3]);
    }
    switch (n % 4 - id) {
        case 3:
        case 2:
        case 1:
            sum += x[n / 4 * 4 + id];
            break;
        default:
            break;
    }
    s[threadIdx.x] = sum;
    __syncthreads();
    for (int count = 192; count > 1;) {
        const int half = (count + 1) / 2;
        if (threadIdx.x + half < count) s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
        count = half;
    }
    if (threadIdx.x == 0) atomicAdd(out, s[0]);
}
