/*---
probe:
  question: Which vector width pays for float32 arithmetic?
  buffers: {data: {elements: 512}}
  cases: [{LANES: 1}, {LANES: 4}, {LANES: 8}, {LANES: 16}, {LANES: 32}]
  per: "LANES * 8 * 20000"
launches:
  - {kernel: chains<float>, when: "LANES == 1", grid: [1], block: [1], args: [data]}
  - {kernel: chains<Floats4>, when: "LANES == 4", grid: [1], block: [1], args: [data]}
  - {kernel: chains<Floats8>, when: "LANES == 8", grid: [1], block: [1], args: [data]}
  - {kernel: chains<Floats16>, when: "LANES == 16", grid: [1], block: [1], args: [data]}
  - {kernel: chains<Floats32>, when: "LANES == 32", grid: [1], block: [1], args: [data]}
---*/
#include <hip/hip_runtime.h>

typedef float Floats4 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64)));
typedef float Floats32 __attribute__((vector_size(128)));

template <typename V> __global__ void chains(float *data) {
    V *at = (V *)data;
    V factor = at[8], term = at[9];
    V a = at[0], b = at[1], c = at[2], d = at[3], e = at[4], f = at[5], g = at[6], h = at[7];
    for (int i = 0; i < 20000; ++i) {
        a = a * factor + term; b = b * factor + term; c = c * factor + term; d = d * factor + term;
        e = e * factor + term; f = f * factor + term; g = g * factor + term; h = h * factor + term;
    }
    at[0] = a; at[1] = b; at[2] = c; at[3] = d; at[4] = e; at[5] = f; at[6] = g; at[7] = h;
}
