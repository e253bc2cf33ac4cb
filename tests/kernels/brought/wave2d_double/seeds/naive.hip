/*---
launches:
  - kernel: wave_step
    grid: ["ceil_div(NX, 16)", "ceil_div(NY, 16)"]
    block: [16, 16]
    args: [now, before, after, NX, NY, {value: "(speed * dt / spacing) * (speed * dt / spacing)", type: float64},
           {value: "frequency * step * dt", type: float64}]
---*/
// Brings: double scalars from expressions over attributes, M_PI, early returns at the edges.
#include <hip/hip_runtime.h>
#include <cmath>

#define AT(x, y) ((y) * nx + (x))

__global__ void wave_step(const float *now, const float *before, float *after, int nx, int ny,
                          double courant2, double turns)
{
    const int x = threadIdx.x + blockIdx.x * blockDim.x;
    const int y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= nx || y >= ny)
        return;

    if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) {
        after[AT(x, y)] = 0.0f;
        return;
    }

    const double centre = now[AT(x, y)];
    const double laplacian = (double)now[AT(x - 1, y)] + now[AT(x + 1, y)] + now[AT(x, y - 1)]
                             + now[AT(x, y + 1)] - 4.0 * centre;
    double next = 2.0 * centre - before[AT(x, y)] + courant2 * laplacian;
    if (x == nx / 2 && y == ny / 2)
        next += sin(2.0 * M_PI * turns);
    after[AT(x, y)] = (float)next;
}
