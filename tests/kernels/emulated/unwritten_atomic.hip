// The largest of 64 numbers, by an atomic operation. Planted: of a register that nobody wrote.
extern "C" __global__ void unwritten_atomic(const int* x, int* y) {
    int mine = x[threadIdx.x];
#ifdef PLANTED
    asm volatile("v_and_b32 %0, 1, v90" : "=v"(mine) : : "v91");
#endif
    atomicMax(y, mine);
}
