/*---
probe:
  question: What do float32 functions cost beside a multiply-add, where all units are busy?
  buffers: {out: {elements: "$elements"}}
  cases: $cases
  per: "$per"
launches:
$launches
---*/
#include <hip/hip_runtime.h>

template <int F> __device__ float of(float x) {
    if (F == 1) return expf(-x);
    if (F == 2) return __expf(-x);
    if (F == 3) return logf(x);
    if (F == 4) return __logf(x);
    if (F == 5) return sqrtf(x);
    if (F == 6) return rsqrtf(x);
    if (F == 7) return 3.0f / x;
    if (F == 8) return sinf(x);
    if (F == 9) return __sinf(x);
    if (F == 10) return tanhf(x);
    if (F == 11) return erff(x);
    if (F == 12) return powf(x, 0.3f);
    return x;
}

// Four chains a thread; each stays near 2, whatever the function.
template <int F> __global__ void chains(float *out, int rounds, float four) {
    float factor = 1.0f / four, term = 0.5f * four;
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float a = 0.001f * threadIdx.x, b = a + 0.1f, c = a + 0.2f, d = a + 0.3f;
    for (int i = 0; i < rounds; ++i) {
        a = of<F>(fmaf(a, factor, term));
        b = of<F>(fmaf(b, factor, term));
        c = of<F>(fmaf(c, factor, term));
        d = of<F>(fmaf(d, factor, term));
    }
    out[at] = a + b + c + d;
}

// For a processor: one a thread, in a loop over threads, which becomes vectors where it can.
template <int F> __global__ void each(float *out, int blocks, float four) {
    float factor = 1.0f / four, term = 0.5f * four;
    int at = (blockIdx.x % blocks) * blockDim.x + threadIdx.x;
    out[at] = of<F>(fmaf(out[at], factor, term));
}
