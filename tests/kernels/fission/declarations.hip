enum Mode { FIRST, SECOND };
__constant__ unsigned table[4] = {3, 1, 4, 1};
__device__ unsigned per_lane(unsigned v) { return v + __lane_id() * 2; }
template <int N> struct Box { unsigned items[N]; };
__global__ void __launch_bounds__(96) k(const unsigned* __restrict__ x, unsigned* __restrict__ y, int n) {
    constexpr int WIDTH = 4;
    typedef unsigned Word;
    using Row = Word[WIDTH];
    static const unsigned primes[] = {2, 3, 5};
    const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = i % 32;
    Row row = {};
    Box<2> box = {{x[i], 4}};
    auto twice = x[i] * 2, thrice = twice + x[i];
    int i2 = lane;
    for (int j = 0; j < WIDTH; ++j) row[j] = table[j] + primes[j % 3];
    {
        unsigned i2 = 5;
        __syncthreads();
        row[0] += i2 + thrice;
    }
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
        box.items[i] += row[i] + i2;
        __syncthreads();
    }
    if constexpr (WIDTH > 3) { __syncthreads(); twice += SECOND; }
    if (n < 0) return;
    y[i] = per_lane(twice) + box.items[0] * box.items[1] + row[0] + __shfl(row[1], lane ^ 1, 32);
}
