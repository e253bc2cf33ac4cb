/* The types of <cstdint> and <cstddef>, also in std. */
#ifndef KS_INTEGERS_H
#define KS_INTEGERS_H

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
#ifndef KS_LONG_LONG_IS_INT64
typedef long int64_t; /* as <cstdint> of Linux has it, so that both names are one type */
typedef unsigned long uint64_t;
#else
typedef long long int64_t;
typedef unsigned long long uint64_t;
#endif
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef int64_t intmax_t;
typedef uint64_t uintmax_t;
typedef decltype(sizeof 0) size_t;
typedef decltype((char *)0 - (char *)0) ptrdiff_t;

typedef int8_t int_least8_t;
typedef uint8_t uint_least8_t;
typedef int16_t int_least16_t;
typedef uint16_t uint_least16_t;
typedef int32_t int_least32_t;
typedef uint32_t uint_least32_t;
typedef int64_t int_least64_t;
typedef uint64_t uint_least64_t;
typedef int8_t int_fast8_t;
typedef uint8_t uint_fast8_t;
typedef intptr_t int_fast16_t;
typedef uintptr_t uint_fast16_t;
typedef intptr_t int_fast32_t;
typedef uintptr_t uint_fast32_t;
typedef int64_t int_fast64_t;
typedef uint64_t uint_fast64_t;

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif

namespace std {
using ::int16_t, ::int32_t, ::int64_t, ::int8_t, ::uint16_t, ::uint32_t, ::uint64_t, ::uint8_t;
using ::int_least16_t, ::int_least32_t, ::int_least64_t, ::int_least8_t;
using ::uint_least16_t, ::uint_least32_t, ::uint_least64_t, ::uint_least8_t;
using ::int_fast16_t, ::int_fast32_t, ::int_fast64_t, ::int_fast8_t;
using ::uint_fast16_t, ::uint_fast32_t, ::uint_fast64_t, ::uint_fast8_t;
using ::intmax_t, ::intptr_t, ::ptrdiff_t, ::size_t, ::uintmax_t, ::uintptr_t;
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};
} // namespace std

#endif
