/* __half and __half2: operations are _Float16's, as the compiler sees through the conversions. */
#include "hip_runtime.h"
#include "amdgcn/ks/half_bits.h"

#ifndef KS_HIP_FP16_H
typedef _Float16 KsHalves __attribute__((ext_vector_type(2)));
#define KS_PAIR_VECTOR KsHalves
#define KS_FMA(a, b, c)                                                                            \
    ks_bits<__half>(__builtin_elementwise_fma(ks_bits<_Float16>(a), ks_bits<_Float16>(b),          \
                                              ks_bits<_Float16>(c)))
#endif
#include "cpu/hip/hip_fp16.h"
