/* What NVRTC lacks of C's standard headers, as far as HIP gives it to kernels. */
#ifndef KS_STANDARD_H
#define KS_STANDARD_H

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;

#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define INFINITY __int_as_float(0x7f800000)
#define HUGE_VALF INFINITY
#define NAN __int_as_float(0x7fc00000)
#define M_PI 3.14159265358979323846
#define M_LOG2E 1.44269504088896340736
#define M_LN2 0.69314718055994530942

#define abort() __trap()
#undef assert
#define assert(condition) ((condition) ? (void)0 : __trap())

#endif
