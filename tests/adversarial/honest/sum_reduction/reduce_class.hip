/*---
launches:
  - kernel: sum_by_class
    grid: ["min(ceil_div(N, 1024), 200)"]
    block: [128]
    args: [x, parts, N]
  - kernel: sum_by_class
    grid: [1]
    block: [128]
    args: [parts, out, {value: "min(ceil_div(N, 1024), 200)", type: int32}]
scratch: {parts: "4 * 200"}
---*/
// As CUB has it: a class template with its storage type, constructed on LDS, whose member waits.
template <typename T, int THREADS>
class BlockReduce {
public:
    struct TempStorage {
        T values[THREADS];
    };

    __device__ explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

    __device__ T Sum(T value) {
        storage_.values[threadIdx.x] = value;
        __syncthreads();
        for (int half = THREADS / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) storage_.values[threadIdx.x] += storage_.values[threadIdx.x + half];
            __syncthreads();
        }
        return storage_.values[0];
    }

private:
    TempStorage& storage_;
};

__global__ void sum_by_class(const float* from, float* to, int n) {
    using Reduce = BlockReduce<float, 128>;
    __shared__ typename Reduce::TempStorage storage;
    float v = 0.0f;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += from[i];
    const float total = Reduce(storage).Sum(v);
    if (threadIdx.x == 0) to[blockIdx.x] = total;
}
