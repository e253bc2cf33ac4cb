__device__ unsigned folded(unsigned v, unsigned* s) {
    s[threadIdx.x] = v;
    __syncthreads();
    for (int step = 48; step; step /= 2) {
        if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
        __syncthreads();
        if (step == 3) break;
    }
    for (int t = 0; t < 3; ++t)
        if (v % 3 == t) return s[t] + 1;
    return s[0];
}

__global__ void k(const unsigned* x, unsigned* y, int n) {
    __shared__ unsigned s[96];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    unsigned v = x[i];
    s[t] = v;
    // those that are done wait with the others
    for (int width = 64; width > 0; width /= 2) {
        __syncthreads();
        if (t >= width || t + width >= 96) continue;
        const unsigned other = s[t + width];
        if (other % 7 == 0) continue;
        s[t] += other;
    }
    __syncthreads();
    v += s[0];
    // in the last round alone some break
    for (int first = 0; first < 1000; first += 96) {
        __syncthreads();
        s[t] = v;
        __syncthreads();
        const unsigned other = s[95 - t];
        if (first + t >= 1000) break;
        v = v * 3 + other;
    }
    // a continue in a nested loop leaves that loop's turn; one in a branch leaves this one's
    for (int round = 0; round < 3; ++round) {
        for (int j = 0; j < 5; ++j) {
            if (j * t % 2) continue;
            v += j;
        }
        __syncthreads();
        s[t] = v;
        __syncthreads();
        if (t % 3 == round) {
            if (v % 2) continue;
            v += s[(t + 1) % 96];
        } else if (v % 5 == 0) {
            continue;
        }
        v ^= round;
    }
    int turns = 0;
    do {
        __syncthreads();
        if (v % (turns + 2) == 0) continue;
        v += turns;
    } while (++turns < 4);
    __syncthreads();
    v = folded(v, s);
    y[i] = v;
}
