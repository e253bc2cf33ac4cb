// A store to LDS, and a load straight to it, before a barrier. Planted: one of them is not waited for.
#if PLANTED == 1
#define STORED ""
#else
#define STORED "s_waitcnt lgkmcnt(0)\n"
#endif
#if PLANTED == 2
#define LOADED "s_waitcnt lgkmcnt(0)\n"
#else
#define LOADED "s_waitcnt vmcnt(0)\n"
#endif
extern "C" __global__ void lds_waits(const int* x, int* y) {
    __shared__ int stored[256], loaded[256];
    const int t = threadIdx.x;
    typedef __attribute__((address_space(3))) int* Local;
    const unsigned to = (unsigned)(size_t)(Local)(stored + t), from = 4 * t;
    const unsigned wave = __builtin_amdgcn_readfirstlane((unsigned)(size_t)(Local)(loaded + t));
    asm volatile("s_mov_b32 m0, %0\ns_nop 0\nglobal_load_lds_dword %1, %2\n" LOADED
                 : : "s"(wave), "v"(from), "s"(x) : "memory", "m0");
    asm volatile("ds_write_b32 %0, %1\n" STORED "s_barrier" : : "v"(to), "v"(t) : "memory");
    y[t] = stored[255 - t] + loaded[255 - t];
}
