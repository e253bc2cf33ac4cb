/* HIP's device side on a CPU: everything but the barriers and the wavefront operations. */
#ifndef KS_HIP_RUNTIME_H
#define KS_HIP_RUNTIME_H

#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_DEVICE_COMPILE__ 1

/* A translator reads the markers below as words of the source, so it must find them unexpanded. */
#ifndef KS_TRANSLATING
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ static
#define __launch_bounds__(...)
#endif
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#define __forceinline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __restrict__ __restrict
#define __align__(n) __attribute__((aligned(n)))

#include "../ks/types.h"
#include "../ks/vectors.h"
#include "../ks/bits.h"
#include "../ks/memory_names.h"
#include "../ks/math.h"
#include "../ks/special.h"
#include "prelude/initializer_list.h"
#include "prelude/whole_numbers.h"
#include "../ks/asserting.h"
#include "../ks/atomics.h"

#endif
