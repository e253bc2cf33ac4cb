/*---
launches:
  - kernel: residual_forward<T>
    grid: ["ceil_div(N, 128 * (16 // sizeof(T)))"]
    block: [128]
    args: [out, inp1, inp2, N]
---*/
// Brings: memcpy in device code, an aligned pack as a class template, __ldcs and __stcs of int4,
// sizeof(T) in a launch expression. N is a multiple of 8.
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include <cstring>

template <class E>
struct alignas(16) Pack {
    static constexpr int size = sizeof(int4) / sizeof(E);
    E item[size];

    Pack() = default;
    __device__ explicit Pack(int4 bits) {
        static_assert(sizeof(bits) == sizeof(item), "a pack is 128 bits wide");
        memcpy(&item, &bits, sizeof(bits));
    }
    __device__ E& operator[](int i) { return item[i]; }
    __device__ int4 bits() const {
        int4 all;
        memcpy(&all, &item, sizeof(all));
        return all;
    }
};

template <class E>
__device__ Pack<E> load_streaming(const E* address) {
    return Pack<E>(__ldcs(reinterpret_cast<const int4*>(address)));
}

template <class E>
__device__ void store_streaming(E* address, const Pack<E>& value) {
    __stcs(reinterpret_cast<int4*>(address), value.bits());
}

template <class E>
__global__ void residual_forward(E* out, const E* inp1, const E* inp2, int n) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * Pack<E>::size;
    if (i >= n) { return; }

    Pack<E> result;
    Pack<E> a = load_streaming(inp1 + i);
    Pack<E> b = load_streaming(inp2 + i);
    for (int k = 0; k < Pack<E>::size; k++) {
        result[k] = static_cast<E>(static_cast<float>(a[k]) + static_cast<float>(b[k]));
    }
    store_streaming(out + i, result);
}
