/* Integer names, limits, dim3 and the indices of a launch. */
#ifndef KS_TYPES_H
#define KS_TYPES_H

#ifndef KS_INLINE
#define KS_INLINE static inline __attribute__((always_inline))
#endif

/* No kernel's code: the oracle does not watch its accesses; see races.h. */
#define KS_QUIET __attribute__((no_sanitize("thread")))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define NULL 0
#define CHAR_BIT 8
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1LL)
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ULL + 1ULL)
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#define INFINITY __builtin_inff()
#define HUGE_VALF __builtin_inff()
#define NAN __builtin_nanf("")
#define HIP_INF_F __builtin_inff()
#define HIP_NAN_F __builtin_nanf("")
#define M_PI 3.14159265358979323846
#define M_LOG2E 1.44269504088896340736
#define M_LN2 0.69314718055994530942

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
