/*---
launches:
  - {kernel: rotate, grid: [1], block: [8], args: [q, p, r]}
---*/
__device__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__global__ void rotate(const float* q, const float* p, float* r) {
    const float inv = rsqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const float w = q[0] * inv;
    const float3 u = make_float3(q[1] * inv, q[2] * inv, q[3] * inv);
    const float3 v = make_float3(p[3 * threadIdx.x], p[3 * threadIdx.x + 1], p[3 * threadIdx.x + 2]);
    float3 t = cross(u, v);
    t.x *= 2; t.y *= 2; t.z *= 2;
    const float3 s = cross(u, t);
    r[3 * threadIdx.x] = v.x + w * t.x + s.x;
    r[3 * threadIdx.x + 1] = v.y + w * t.y + s.y;
    r[3 * threadIdx.x + 2] = v.z + w * t.z + s.z;
}
