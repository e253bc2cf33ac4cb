/*---
launches:
  - kernel: black_scholes
    grid: ["ceil_div(N, 128)"]
    block: [128]
    args:
      - spot
      - strike
      - years
      - price
      - N
      - {value: rate, type: float64}
      - {value: volatility, type: float64}
      - call
---*/
// Brings: float64 arrays, double and bool scalars, M_SQRT1_2, erfc.
#include <hip/hip_runtime.h>
#include <math.h>

__device__ inline double cumulative_normal(double d) { return 0.5 * erfc(-d * M_SQRT1_2); }

__global__ void black_scholes(const double *spot, const double *strike, const double *years,
                              double *price, int n, double rate, double volatility, bool call) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;

  const double s = spot[i], k = strike[i], t = years[i];
  const double deviation = volatility * sqrt(t);
  const double d1 = (log(s / k) + (rate + 0.5 * volatility * volatility) * t) / deviation;
  const double d2 = d1 - deviation;
  const double discounted = k * exp(-rate * t);

  if (call)
    price[i] = s * cumulative_normal(d1) - discounted * cumulative_normal(d2);
  else
    price[i] = discounted * cumulative_normal(-d2) - s * cumulative_normal(-d1);
}
