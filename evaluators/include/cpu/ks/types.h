/* dim3 and the indices of a launch, with the names that come before all else. */
#ifndef KS_TYPES_H
#define KS_TYPES_H

#ifndef KS_INLINE
#define KS_INLINE static inline __attribute__((always_inline))
#endif

/* No kernel's code: the oracle does not watch its accesses; see races.h. */
#define KS_QUIET __attribute__((no_sanitize("thread")))

#include "prelude/integers.h"
#include "prelude/limits.h"
#include "prelude/numbers.h"

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

struct KsIndex {
    unsigned x, y, z;
    constexpr operator dim3() const { return dim3(x, y, z); }
};

#ifndef KS_INDICES_BUILT_IN
/* Set by the generated entries, round the calls of the kernel. Their address is never taken, so
 * that the compiler keeps them in registers. blockDim is a constant where all launches agree. */
static KsIndex threadIdx, blockIdx, gridDim;
#endif

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

static constexpr int warpSize = WAVEFRONT;

template <typename T> struct KsSame { using type = T; };
template <typename T> using KsExactly = typename KsSame<T>::type; /* takes no part in deduction */

#endif
