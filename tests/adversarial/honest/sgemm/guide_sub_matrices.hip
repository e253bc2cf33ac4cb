/*---
launches:
  - kernel: MatMulKernel
    grid: ["ceil_div(N, BLOCK_SIZE)", "ceil_div(M, BLOCK_SIZE)"]
    block: [BLOCK_SIZE, BLOCK_SIZE]
    args: [a, b, c, M, N, K]
params: {BLOCK_SIZE: 16}
space: {BLOCK_SIZE: [8, 16, 32]}
---*/
// The programming guide's shared-memory product, with edges.
typedef struct {
    int width;
    int height;
    int stride;
    const float* elements;
} Matrix;

__device__ float GetElement(const Matrix A, int row, int col) {
    return row < A.height && col < A.width ? A.elements[row * A.stride + col] : 0.0f;
}

__device__ Matrix GetSubMatrix(Matrix A, int row, int col) {
    Matrix Asub;
    Asub.width = A.width - BLOCK_SIZE * col;
    Asub.height = A.height - BLOCK_SIZE * row;
    Asub.stride = A.stride;
    Asub.elements = A.elements + (size_t)A.stride * BLOCK_SIZE * row + BLOCK_SIZE * col;
    return Asub;
}

__global__ void MatMulKernel(const float* a, const float* b, float* c, int M, int N, int K) {
    Matrix A = {K, M, K, a};
    Matrix B = {N, K, N, b};
    int blockRow = blockIdx.y;
    int blockCol = blockIdx.x;
    float Cvalue = 0;
    int row = threadIdx.y;
    int col = threadIdx.x;
    for (int m = 0; m < (K + BLOCK_SIZE - 1) / BLOCK_SIZE; ++m) {
        Matrix Asub = GetSubMatrix(A, blockRow, m);
        Matrix Bsub = GetSubMatrix(B, m, blockCol);
        __shared__ float As[BLOCK_SIZE][BLOCK_SIZE];
        __shared__ float Bs[BLOCK_SIZE][BLOCK_SIZE];
        As[row][col] = GetElement(Asub, row, col);
        Bs[row][col] = GetElement(Bsub, row, col);
        __syncthreads();
        for (int e = 0; e < BLOCK_SIZE; ++e)
            Cvalue += As[row][e] * Bs[e][col];
        __syncthreads();
    }
    int r = blockRow * BLOCK_SIZE + row, k = blockCol * BLOCK_SIZE + col;
    if (r < M && k < N)
        c[(size_t)r * N + k] = Cvalue;
}
