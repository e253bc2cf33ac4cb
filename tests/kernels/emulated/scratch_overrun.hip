// A histogram of 16 bins in each thread's own memory, of which the fullest is told. Planted: values
// beyond the last bin are not taken for the last one's.
extern "C" __global__ void scratch_overrun(const int* x, int* y, int each) {
    volatile int bins[16];
    for (int i = 0; i < 16; ++i) bins[i] = 0;
    for (int i = 0; i < each; ++i) {
        int bin = x[threadIdx.x * each + i];
#ifndef PLANTED
        bin = bin < 15 ? bin : 15;
#endif
        bins[bin] = bins[bin] + 1;
    }
    int fullest = 0;
    for (int i = 1; i < 16; ++i)
        if (bins[i] > bins[fullest]) fullest = i;
    y[threadIdx.x] = fullest;
}
