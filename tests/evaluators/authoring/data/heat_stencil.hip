#include <hip/hip_runtime.h>
#include <cstdio>
#include <cstdlib>

#define NX 1024
#define NY 768
#define BX 32
#define BY 8

typedef float real;

// Index of a cell.
#define AT(i, j) ((j) * NX + (i))

__global__ void heat_step(real *next, const real *now, real rate) {
    int i = blockIdx.x * BX + threadIdx.x;
    int j = blockIdx.y * BY + threadIdx.y;
    if (i >= NX || j >= NY) return;
    real middle = now[AT(i, j)];
    if (i == 0 || j == 0 || i == NX - 1 || j == NY - 1) {
        next[AT(i, j)] = middle;
        return;
    }
    real around = now[AT(i - 1, j)] + now[AT(i + 1, j)] + now[AT(i, j - 1)] + now[AT(i, j + 1)];
    next[AT(i, j)] = middle + rate * (around - 4 * middle);
}

int main() {
    const size_t nbytes = (size_t)NY * NX * sizeof(real);
    real *host = (real *)malloc(nbytes);
    for (int j = 0; j < NY; ++j)
        for (int i = 0; i < NX; ++i) host[AT(i, j)] = (i == NX / 2 && j == NY / 2) ? 100.0f : 0.0f;
    real *d_now, *d_next;
    hipMalloc((void **)&d_now, nbytes);
    hipMalloc((void **)&d_next, nbytes);
    hipMemcpy(d_now, host, nbytes, hipMemcpyHostToDevice);
    dim3 threads(BX, BY), grid((NX + BX - 1) / BX, (NY + BY - 1) / BY);
    heat_step<<<grid, threads>>>(d_next, d_now, 0.2f);
    hipMemcpy(host, d_next, nbytes, hipMemcpyDeviceToHost);
    printf("%f\n", host[AT(NX / 2, NY / 2)]);
    return 0;
}
