/* A HIP host API that launches nothing, and prints what it was asked to launch. */
#pragma once
#include <stddef.h>
#include <stdio.h>

#define WAVEFRONT 64
#include "../../../../../evaluators/include/cpu/hip/hip_runtime.h"
#undef WAVEFRONT

typedef int hipError_t;
typedef void* hipStream_t;
enum { hipSuccess = 0, hipErrorInvalidValue = 1 };
enum { hipFuncAttributeMaxDynamicSharedMemorySize = 8 };

inline hipError_t record(const char* how, const void* kernel, dim3 grid, dim3 block, void** values,
                         size_t lds_bytes) {
    printf("%s %u %u %u %u %u %u %zu", how, grid.x, grid.y, grid.z, block.x, block.y, block.z,
           lds_bytes);
    for (; *values; ++values) printf(" %u", *(unsigned*)*values); // their low 32 bits
    printf("\n");
    return hipSuccess;
}

inline hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** values,
                                  size_t lds_bytes, hipStream_t) {
    return record("launch", kernel, grid, block, values, lds_bytes);
}

inline hipError_t hipLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block,
                                             void** values, unsigned lds_bytes, hipStream_t) {
    return record("cooperative", kernel, grid, block, values, lds_bytes);
}

inline hipError_t hipMemsetAsync(void* to, int byte, size_t nbytes, hipStream_t) {
    printf("memset %llu %d %zu\n", (unsigned long long)to, byte, nbytes);
    return hipSuccess;
}

inline hipError_t hipFuncSetAttribute(const void*, int, int) { return hipSuccess; }
