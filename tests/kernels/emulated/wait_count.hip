// A copy by a load of its own. Planted: what was loaded is used before it is there.
extern "C" __global__ void wait_count(const float* x, float* y) {
    const float* from = x + threadIdx.x;
    float value;
#ifdef PLANTED
    asm volatile("global_load_dword %0, %1, off\n v_add_f32 %0, %0, %0" : "=&v"(value) : "v"(from));
#else
    asm volatile("global_load_dword %0, %1, off\n s_waitcnt vmcnt(0)\n v_add_f32 %0, %0, %0"
                 : "=&v"(value)
                 : "v"(from));
#endif
    y[threadIdx.x] = value;
}
