/* memcpy and relatives are the compiler's code. Behind the hooks of the oracle, which are macros
 * of the builtin names. */
#ifndef KS_MEMORY_H
#define KS_MEMORY_H

#include "memory_names.h"

template <int> KS_INLINE void *memcpy(void *to, const void *from, size_t size) {
    return __builtin_memcpy(to, from, size);
}
template <int> KS_INLINE void *memmove(void *to, const void *from, size_t size) {
    return __builtin_memmove(to, from, size);
}
template <int> KS_INLINE void *memset(void *to, int value, size_t size) {
    return __builtin_memset(to, value, size);
}

#endif
