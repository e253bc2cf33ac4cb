/*---
launches:
  - kernel: diffuse
    grid: ["ceil_div(W, 8)", "ceil_div(H, 4)", "ceil_div(D, 4)"]
    block: [8, 4, 4]
    args: [u, v, D, H, W, MODE]
---*/
#include <hip/hip_runtime.h>

#define BX 8
#define BY 4
#define BZ 4

enum Boundary { ZERO = 1, CLAMP = 2, WRAP = 3 };

struct Volume {
    const float* data;
    int d, h, w;
};

__device__ int wrap(int i, int n) { return (i % n + n) % n; }

__device__ float fetch(const Volume& vol, int z, int y, int x, int mode)
{
    bool inside = z >= 0 && z < vol.d && y >= 0 && y < vol.h && x >= 0 && x < vol.w;
    if (!inside) {
        switch (mode) {
        case CLAMP:
            z = min(max(z, 0), vol.d - 1);
            y = min(max(y, 0), vol.h - 1);
            x = min(max(x, 0), vol.w - 1);
            break;
        case WRAP:
            z = wrap(z, vol.d);
            y = wrap(y, vol.h);
            x = wrap(x, vol.w);
            break;
        default:
            return 0.0f;
        }
    }
    return vol.data[(z * vol.h + y) * vol.w + x];
}

__global__ void diffuse(const float* u, float* v, int d, int h, int w, int mode)
{
    __shared__ float box[BZ + 2][BY + 2][BX + 2];
    const Volume vol = {u, d, h, w};

    const int tx = threadIdx.x, ty = threadIdx.y, tz = threadIdx.z;
    const int x = blockIdx.x * BX + tx;
    const int y = blockIdx.y * BY + ty;
    const int z = blockIdx.z * BZ + tz;
    const int lz = tz + 1, ly = ty + 1, lx = tx + 1;

    // a block can hang over the end of the volume by several cells; those are not used
    box[lz][ly][lx] = fetch(vol, z, y, x, mode);
    if (tx == 0)      box[lz][ly][0]      = fetch(vol, z, y, x - 1, mode);
    if (tx == BX - 1) box[lz][ly][BX + 1] = fetch(vol, z, y, x + 1, mode);
    if (ty == 0)      box[lz][0][lx]      = fetch(vol, z, y - 1, x, mode);
    if (ty == BY - 1) box[lz][BY + 1][lx] = fetch(vol, z, y + 1, x, mode);
    if (tz == 0)      box[0][ly][lx]      = fetch(vol, z - 1, y, x, mode);
    if (tz == BZ - 1) box[BZ + 1][ly][lx] = fetch(vol, z + 1, y, x, mode);
    __syncthreads();

    if (x < w && y < h && z < d) {
        const float centre = box[lz][ly][lx];
        float around = 0.0f;
        for (int side = 0; side < 6; ++side) {
            switch (side) {
            case 0: around += box[lz][ly][lx - 1]; break;
            case 1: around += box[lz][ly][lx + 1]; break;
            case 2: around += box[lz][ly - 1][lx]; break;
            case 3: around += box[lz][ly + 1][lx]; break;
            case 4: around += box[lz - 1][ly][lx]; break;
            case 5: around += box[lz + 1][ly][lx]; break;
            }
        }
        v[(z * h + y) * w + x] = centre + 0.1f * (around - 6.0f * centre);
    }
}
