/* The device side that g++ needs to read a kernel's code; nothing of it ever runs. */
#pragma once
#include "hip_runtime_api.h"

#undef __shared__
#define __shared__
static KsIndex blockDim;
static inline void __syncthreads() {}
template <typename T> T __shfl_down(T value, unsigned, int = 64) { return value; }
template <typename T> T __shfl_xor(T value, int, int = 64) { return value; }
template <typename T> T __shfl(T value, int, int = 64) { return value; }
