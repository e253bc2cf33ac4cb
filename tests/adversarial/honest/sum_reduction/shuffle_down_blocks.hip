/*---
launches:
  - kernel: deviceReduceKernel
    grid: ["min(ceil_div(N, 512), 1024)"]
    block: [512]
    args: [x, parts, N]
  - kernel: deviceReduceKernel
    grid: [1]
    block: [1024]
    args: [parts, out, {value: "min(ceil_div(N, 512), 1024)", type: int32}]
scratch: {parts: "4 * min(ceil_div(N, 512), 1024)"}
---*/
// warpReduceSum and blockReduceSum, as they have been copied for ten years.
__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2) val += __shfl_down(val, offset);
    return val;
}

__inline__ __device__ float blockReduceSum(float val) {
    static __shared__ float shared[1024 / WAVEFRONT];
    int lane = threadIdx.x % warpSize;
    int wid = threadIdx.x / warpSize;
    val = warpReduceSum(val);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = (threadIdx.x < blockDim.x / warpSize) ? shared[lane] : 0;
    if (wid == 0) val = warpReduceSum(val);
    return val;
}

__global__ void deviceReduceKernel(const float* in, float* out, int N) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += blockDim.x * gridDim.x) {
        sum += in[i];
    }
    sum = blockReduceSum(sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
