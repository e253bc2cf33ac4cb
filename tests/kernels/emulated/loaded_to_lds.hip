// Loads straight to LDS, which compilers count among its accesses too. Planted: they are not waited for.
extern "C" __global__ void loaded_to_lds(const int *x, int *y) {
    typedef __attribute__((address_space(1))) void *Far;
    typedef __attribute__((address_space(3))) void *Near;
    __shared__ int tile[64];
    const int t = threadIdx.x;
    const unsigned from = (unsigned)(size_t)(Near)(tile + 63 - t);
    int sum = 0;
    for (int round = 0; round < 4; ++round) {
        __builtin_amdgcn_global_load_lds((Far)(x + 64 * round + t),
                                         (Near)tile, 4, 0, 0);
        int found;
#ifdef PLANTED
        asm volatile("ds_read_b32 %0, %1\ns_waitcnt lgkmcnt(0)"
                     : "=v"(found) : "v"(from) : "memory");
#else
        __builtin_amdgcn_s_waitcnt(0x3f70);  // vmcnt(0)
        __builtin_amdgcn_wave_barrier();
        found = tile[63 - t];
#endif
        sum += found;
        __builtin_amdgcn_wave_barrier();
    }
    y[t] = sum;
}
