/*---
launches:
  - kernel: transpose_views
    grid: ["ceil_div(C, 32)", "ceil_div(R, 8)"]
    block: [32, 8]
    args: [x, y, {value: "R", type: int64}, {value: "C", type: int64}]
---*/
// Views with strides: the transpose of a view has its strides exchanged.
namespace linear {

template <typename T>
class View {
public:
    __device__ View(T* data, long long rows, long long cols, long long row_step, long long col_step)
        : data_(data), rows_(rows), cols_(cols), row_step_(row_step), col_step_(col_step) {}

    __device__ T& operator()(long long row, long long col) const {
        return data_[row * row_step_ + col * col_step_];
    }

    __device__ View transposed() const { return View(data_, cols_, rows_, col_step_, row_step_); }

    __device__ bool contains(long long row, long long col) const {
        return row < rows_ && col < cols_;
    }

private:
    T* data_;
    long long rows_, cols_, row_step_, col_step_;
};

}  // namespace linear

__global__ void transpose_views(const float* x, float* y, long long R, long long C) {
    const linear::View<const float> from(x, R, C, C, 1);
    const linear::View<float> to = linear::View<float>(y, C, R, R, 1).transposed();
    const long long col = blockIdx.x * 32LL + threadIdx.x;
    const long long row = blockIdx.y * 8LL + threadIdx.y;
    if (from.contains(row, col)) to(row, col) = from(row, col);
}
