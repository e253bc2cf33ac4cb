/*---
launches:
  - kernel: tiles::gemm<tiles::Order::RowMajor, 2, 4>
    grid: ["ceil_div(N, 64)", "ceil_div(M, 32)"]
    block: [16, 16]
    args: [a, b, c, M, N, K]
---*/
// Library style: namespaces, an enum class, and fragments with operators.
namespace tiles {

enum class Order { RowMajor, ColumnMajor };

template <Order ORDER>
class View {
public:
    __device__ View(const float* data, int rows, int cols) : data_(data), rows_(rows), cols_(cols) {}

    __device__ float operator()(int row, int col) const {
        if (row >= rows_ || col >= cols_) return 0.0f;
        if constexpr (ORDER == Order::RowMajor) {
            return data_[static_cast<size_t>(row) * cols_ + col];
        } else {
            return data_[static_cast<size_t>(col) * rows_ + row];
        }
    }

private:
    const float* data_;
    int rows_, cols_;
};

template <int H, int W>
struct Fragment {
    float value[H][W] = {};

    __device__ float* operator[](int row) { return value[row]; }

    __device__ void add_outer(const float (&column)[H], const float (&row)[W]) {
        for (int i = 0; i < H; ++i)
            for (int j = 0; j < W; ++j) value[i][j] += column[i] * row[j];
    }
};

template <Order ORDER, int H, int W>
__global__ void gemm(const float* a, const float* b, float* c, int M, int N, int K) {
    const View<ORDER> left(a, M, K);
    const View<ORDER> right(b, K, N);
    const int row0 = (blockIdx.y * 16 + threadIdx.y) * H;
    const int col0 = (blockIdx.x * 16 + threadIdx.x) * W;
    Fragment<H, W> sums;
    for (int k = 0; k < K; ++k) {
        float column[H];
        float row[W];
        for (int i = 0; i < H; ++i) column[i] = left(row0 + i, k);
        for (int j = 0; j < W; ++j) row[j] = right(k, col0 + j);
        sums.add_outer(column, row);
    }
    for (int i = 0; i < H; ++i)
        for (int j = 0; j < W; ++j)
            if (row0 + i < M && col0 + j < N) c[(size_t)(row0 + i) * N + col0 + j] = sums[i][j];
}

}  // namespace tiles
