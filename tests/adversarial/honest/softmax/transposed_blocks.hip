/*---
launches:
  - kernel: softmax_tile
    grid: ["ceil_div(R, 32)"]
    block: [32, 8]
    args: [x, y, R, C]
---*/
// 32 rows a block, one row a column of threads: tiles of x turn round in padded LDS, so that
// reading stays coalesced while each thread follows its own row.
__global__ void softmax_tile(const float* x, float* y, int R, int C) {
    __shared__ float tile[32][33];
    __shared__ float m_of[8][32], s_of[8][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row0 = blockIdx.x * 32;
    float m = -3.402823466e+38f, s = 0.0f;
    for (int c0 = 0; c0 < C; c0 += 32) {
        for (int r = ty; r < 32; r += 8) {
            if (row0 + r < R && c0 + tx < C) tile[r][tx] = x[(size_t)(row0 + r) * C + c0 + tx];
        }
        __syncthreads();
        if (row0 + tx < R) {
            for (int k = ty; k < 32 && c0 + k < C; k += 8) {
                const float v = tile[tx][k];
                const float next = fmaxf(m, v);
                s = s * expf(m - next) + expf(v - next);
                m = next;
            }
        }
        __syncthreads();
    }
    m_of[ty][tx] = m;
    s_of[ty][tx] = s;
    __syncthreads();
    for (int r = ty; r < 32; r += 8) {
        if (row0 + r >= R) break;
        float most = m_of[0][r], total = 0.0f;
        for (int k = 1; k < 8; ++k) most = fmaxf(most, m_of[k][r]);
        for (int k = 0; k < 8; ++k) total += s_of[k][r] * expf(m_of[k][r] - most);
        const size_t at = (size_t)(row0 + r) * C;
        for (int c = tx; c < C; c += 32) y[at + c] = expf(x[at + c] - most) / total;
    }
}
