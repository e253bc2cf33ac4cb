// Sums and products of indices as int, addresses of elements of arrays and of what only looks so.
struct Grid {
    int cells[4][4];
    __device__ int* operator[](int i) { return cells[i]; }
};
__device__ void load(int r[4], const int* from) {
    for (int i = 0; i < 4; ++i) r[i] = from[i];
}
__device__ void multiply(int acc[4][4], const int (&a)[4], const int b[4]) {
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) acc[i][j] += a[i] * b[j];
}
__global__ void k(const int* x, int* y, int n) {
    __shared__ int s[4][96], pairs[24][2][4];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = (threadIdx.x - 50) * 2, half = threadIdx.x * 0.75f + 1.5f, size = t + 3000000000u;
    int back = blockDim.x - 1 - threadIdx.x;
    for (int r = 0; r < 4; ++r) s[r][t] = x[i + r];
    pairs[t / 4][0][t % 4] = x[t];
    pairs[t / 4][1][t % 4] = t;
    Grid grid[2] = {};
    int *third = &grid[1][3][2], a[4], b[4], acc[4][4] = {};
    *third = t;
    __syncthreads();
    for (int r = 0; r < 4; ++r) {
        load(a, &s[r][t / 4 * 4]);
        load(b, &pairs[back / 4][r % 2][0]);
        multiply(acc, a, b);
    }
    const int* row = &s[2][back];
    __syncthreads();
    int sum = j + half + size + *row + grid[1][3][2] + (&s[1][t])[0];
    for (int r = 0; r < 16; ++r) sum = sum * 3 + acc[r / 4][r % 4];
    y[i] = sum;
}
