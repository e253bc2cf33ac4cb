/*---
launches:
  - kernel: exact_parts
    grid: [BLOCKS]
    block: [128]
    args: [x, parts, N]
  - kernel: exact_join
    grid: [1]
    block: [64]
    args: [parts, out, {value: "BLOCKS", type: int32}]
scratch: {parts: "8 * BLOCKS"}
params: {BLOCKS: 80}
options: ["-fno-fast-math", "-ffp-contract=off"]
---*/
// Sums as unevaluated pairs of floats (Knuth's two-sum), in a class with operators.
class TwoFloat {
public:
    __device__ TwoFloat(float high = 0.0f, float low = 0.0f) : high_(high), low_(low) {}

    __device__ TwoFloat operator+(const TwoFloat& other) const {
        const float sum = high_ + other.high_;
        const float part = sum - high_;
        const float error = (high_ - (sum - part)) + (other.high_ - part);
        const float low = low_ + other.low_ + error;
        const float high = sum + low;
        return TwoFloat(high, low - (high - sum));
    }

    __device__ TwoFloat& operator+=(const TwoFloat& other) { return *this = *this + other; }
    __device__ explicit operator float() const { return high_ + low_; }
    __device__ float2 pair() const { return make_float2(high_, low_); }

private:
    float high_, low_;
};

__global__ void exact_parts(const float* x, float2* parts, int n) {
    __shared__ float2 lds[128];
    TwoFloat sum;
    for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) sum += x[i];
    lds[threadIdx.x] = sum.pair();
    for (int d = 64; d > 0; d >>= 1) {
        __syncthreads();
        if (threadIdx.x < d) {
            const float2 p = lds[threadIdx.x], q = lds[threadIdx.x + d];
            lds[threadIdx.x] = (TwoFloat(p.x, p.y) + TwoFloat(q.x, q.y)).pair();
        }
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = lds[0];
}

__global__ void exact_join(const float2* parts, float* out, int count) {
    if (threadIdx.x > 0) return;
    TwoFloat sum;
    for (int i = 0; i < count; ++i) sum += TwoFloat(parts[i].x, parts[i].y);
    *out = static_cast<float>(sum);
}
