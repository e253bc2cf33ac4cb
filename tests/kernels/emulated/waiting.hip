// Blocks that wait for each other, through global memory.
struct Scan {
    static constexpr unsigned long long PART = 1ull << 32, WHOLE = 2ull << 32;
};

// Decoupled look-back: a block adds up what those before it have told so far.
__global__ void look_back(const int *x, int *y, unsigned long long *told, int *ticket) {
    __shared__ int sums[256];
    __shared__ int number, before;
    const int t = threadIdx.x;
    if (t == 0) number = atomicAdd(ticket, 1);
    __syncthreads();
    const int block = number;
    sums[t] = x[block * 256 + t];
    __syncthreads();
    for (int by = 1; by < 256; by <<= 1) {
        const int other = t >= by ? sums[t - by] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    if (t == 0) {
        const int mine = sums[255];
        int sum = 0;
        if (block > 0) atomicExch(&told[block], Scan::PART | (unsigned)mine);
        for (int at = block - 1; at >= 0; --at) {
            unsigned long long found;
            do found = __hip_atomic_load(&told[at], __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
            while (found >> 32 == 0);
            sum += (int)(unsigned)found;
            if (found >= Scan::WHOLE) break;
        }
        atomicExch(&told[block], Scan::WHOLE | (unsigned)(sum + mine));
        before = sum;
    }
    __syncthreads();
    y[block * 256 + t] = sums[t] + before;
}

// The first blocks wait for the last ones, which must be let in.
__global__ void chain_from_the_end(const int *x, int *y, volatile int *flag, volatile int *sum) {
    __shared__ int before;
    const int block = gridDim.x - 1 - blockIdx.x;
    if (threadIdx.x == 0) {
        int found = 0;
        if (block > 0) {
            while (flag[block - 1] == 0) {}
            __threadfence();
            found = sum[block - 1];
        }
        sum[block] = found + x[block];
        __threadfence();
        flag[block] = 1;
        before = found;
    }
    __syncthreads();
    y[block * blockDim.x + threadIdx.x] = before;
}

__device__ void all_blocks(int *arrived, int wanted) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (__hip_atomic_load(arrived, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) < wanted)
            __builtin_amdgcn_s_sleep(1);
        __threadfence();
    }
    __syncthreads();
}

__global__ void neighbours_four_times(int *x, int *y, int *arrived) {
    const int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 1; round <= 4; ++round) {
        y[i] = x[(i + 1) % n] + x[i];
        all_blocks(arrived, (2 * round - 1) * gridDim.x);
        x[i] = y[(i + 1) % n];
        all_blocks(arrived, 2 * round * gridDim.x);
    }
}

__global__ void last_block_adds_up(const float *x, float *parts, float *y, unsigned *done) {
    __shared__ float waves[4];
    __shared__ bool last;
    const int t = threadIdx.x;
    float v = x[blockIdx.x * 256 + t];
    for (int by = 32; by; by >>= 1) v += __shfl_down(v, by);
    if (!(t & 63)) waves[t >> 6] = v;
    __syncthreads();
    if (t == 0) {
        parts[blockIdx.x] = waves[0] + waves[1] + waves[2] + waves[3];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || t >= 64) return;
    v = t < gridDim.x ? ((volatile float *)parts)[t] : 0;
    for (int by = 32; by; by >>= 1) v += __shfl_down(v, by);
    if (t == 0) *y = v;
}

__global__ void lock_in_lds(int *y) {
    __shared__ int lock, sum;
    const int t = threadIdx.x;
    if (t == 0) lock = sum = 0;
    __syncthreads();
    if (t % 64 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0) {}
        __threadfence_block();
        sum = sum + t + 1;
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    if (t == 0) y[0] = sum;
}

// One wavefront fills, another waits for its flag; no barrier.
__global__ void volatile_flag(const int *x, int *y) {
    __shared__ int tile[64];
    __shared__ volatile int full;
    const int t = threadIdx.x;
    if (t == 0) full = 0;
    __syncthreads();
    if (t < 64) {
        tile[t] = x[t];
        __threadfence_block();
        if (t == 0) full = 1;
    } else {
        while (full == 0) {}
        __threadfence_block();
        y[t - 64] = tile[127 - t];
    }
}

__global__ void released_flag(const int *x, int *y) {
    __shared__ int tile[64];
    __shared__ int full;
    const int t = threadIdx.x;
    if (t == 0) full = 0;
    __syncthreads();
    if (t < 64) {
        tile[t] = x[t];
        __hip_atomic_store(&full, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
    } else {
        while (!__hip_atomic_load(&full, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP)) {}
        y[t - 64] = tile[127 - t];
    }
}

__device__ int seen(int *counter) {
    return __hip_atomic_load(counter, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP);
}

// A ring of four tiles between one wavefront that fills and another that empties.
__global__ void ring(const int *x, int *y) {
    __shared__ int tiles[4][64];
    __shared__ int filled, emptied;
    const int t = threadIdx.x, lane = t & 63;
    if (t == 0) filled = emptied = 0;
    __syncthreads();
    for (int round = 0; round < 16; ++round) {
        if (t < 64) {
            while (round - seen(&emptied) >= 4) {}
            tiles[round & 3][lane] = x[round * 64 + lane];
        } else {
            while (seen(&filled) <= round) {}
            y[round * 64 + lane] = tiles[round & 3][63 - lane];
        }
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        if (lane == 0) atomicAdd(t < 64 ? &filled : &emptied, 1);
    }
}

// A lock that is looked at before it is taken, and given back by a store.
__global__ void lock_looked_at(int *y) {
    __shared__ int lock, sum;
    const int t = threadIdx.x;
    if (t == 0) lock = sum = 0;
    __syncthreads();
    for (bool done = t % 64 != 0; !done;) {
        if (seen(&lock) == 0 && atomicExch(&lock, 1) == 0) {
            __threadfence_block();
            sum += t + 1;
            __hip_atomic_store(&lock, 0, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP);
            done = true;
        }
    }
    __syncthreads();
    if (t == 0) y[0] = sum;
}

// What stands in LDS is told through global memory.
__global__ void flag_in_memory(const int *x, int *y, int *flag) {
    __shared__ int tile[64];
    const int t = threadIdx.x;
    if (t < 64) {
        tile[t] = x[t];
        __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    } else {
        while (!__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT)) {}
        y[t - 64] = tile[127 - t];
    }
}

// A set of numbers; whoever finds its place empty may be late.
__global__ void hashed(const int *x, int *y) {
    __shared__ int places[1024], count;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) places[i] = -9999;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) {
        const int key = x[i];
        for (int at = key * 37 & 1023;; at = (at + 1) & 1023) {
            int found = places[at];
            if (found == -9999) found = atomicCAS(&places[at], -9999, key);
            if (found == -9999) atomicAdd(&count, 1);
            if (found == -9999 || found == key) break;
        }
    }
    __syncthreads();
    y[threadIdx.x] = count;
}

// One that waits with s_sleep: the compiler looks once ahead of the loop.
__global__ void producer_sleeps(const int *x, int *y) {
    __shared__ int tile[2][64];
    __shared__ int full[2], empty[2];
    const int t = threadIdx.x, lane = t & 63;
    if (t < 2) full[t] = empty[t] = 0;
    __syncthreads();
    for (int round = 0; round < 8; ++round) {
        const int at = round & 1, before = round >> 1;
        if (t < 64) {
            while (seen(&empty[at]) < 3 * before) __builtin_amdgcn_s_sleep(1);
            tile[at][lane] = x[round * 64 + lane];
        } else {
            while (seen(&full[at]) <= before) __builtin_amdgcn_s_sleep(1);
            if (t / 64 == 1 + round % 3) y[round * 64 + lane] = tile[at][63 - lane];
        }
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
        if (lane == 0) atomicAdd(t < 64 ? &full[at] : &empty[at], 1);
    }
}

// Blocks that all meet, twice.
__global__ void grid_meets(const int *x, int *y, int *sums) {
    const auto grid = cooperative_groups::this_grid();
    const int i = blockIdx.x * 64 + threadIdx.x;
    atomicAdd(sums, x[i]);
    grid.sync();
    const int sum = sums[0];
    atomicMax(sums + 1, x[i] ^ sum);
    grid.sync();
    y[i] = sum + sums[1];
}
