// A copy. Planted: by way of an instruction for textures, which no kernel here uses.
extern "C" __global__ void unknown_instruction(const float* x, float* y) {
    float value = x[threadIdx.x];
#ifdef PLANTED
    float face;
    asm volatile("v_cubeid_f32 %0, %1, %1, %1" : "=v"(face) : "v"(value));
    value += 0 * face;
#endif
    y[threadIdx.x] = value;
}
