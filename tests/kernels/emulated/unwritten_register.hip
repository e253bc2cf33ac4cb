// A gather. Planted: 1 its index, 2 its bound, 3 its direction, 4 what it
// stores are in a register never written.
#ifndef PLANTED
#define PLANTED 0
#endif
extern "C" __global__ void unwritten_register(const float* x, float* y, int n) {
    int index, most, forwards;
#if PLANTED == 1
    asm volatile("v_mov_b32 %0, v47" : "=v"(index) : : "v47");
#else
    asm volatile("v_mov_b32 v47, %1\n v_mov_b32 %0, v47" : "=v"(index) : "v"(threadIdx.x) : "v47");
#endif
#if PLANTED == 2
    asm volatile("v_mov_b32 %0, v48" : "=v"(most) : : "v48");
#else
    asm volatile("v_mov_b32 v48, %1\n v_mov_b32 %0, v48" : "=v"(most) : "v"(n) : "v48");
#endif
#if PLANTED == 3
    asm volatile("s_mov_b32 %0, s47" : "=s"(forwards) : : "s47");
#else
    asm volatile("s_mov_b32 s47, 1\n s_mov_b32 %0, s47" : "=s"(forwards) : : "s47");
#endif
    float found = -1;
    index &= 63;
    if ((int)threadIdx.x < most) {
        if (forwards) {
            found = x[index];
        } else {
            found = x[63 - index];
            asm volatile("" ::: "memory");
        }
    }
#if PLANTED == 4
    asm volatile("v_mov_b32 %0, v49" : "=v"(found) : : "v49");
#endif
    y[threadIdx.x] = found;
}
