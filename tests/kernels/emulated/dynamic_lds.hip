// Sums of four values that each thread stages for itself. Planted: dynamic LDS under two names,
// whose accesses LLVM takes for those of different memory and reorders.
extern __shared__ __align__(16) float flat[];

extern "C" __global__ void dynamic_lds(const float* x, float* y) {
#ifdef PLANTED
    extern __shared__ __align__(16) float4 wide[];
#else
    float4* wide = (float4*)flat;
#endif
    int mine = threadIdx.x;
    for (int i = 0; i < 4; ++i) flat[4 * mine + i] = x[4 * mine + i];
    float4 four = wide[mine];
    y[mine] = four.x + four.y + four.z + four.w;
}
