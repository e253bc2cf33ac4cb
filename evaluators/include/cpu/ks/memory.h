/* memcpy and relatives: <cstring>'s names, the compiler's code. Behind the hooks of the oracle,
 * which are macros of the builtin names. */
#ifndef KS_MEMORY_H
#define KS_MEMORY_H

KS_INLINE void *memcpy(void *to, const void *from, size_t size) {
    return __builtin_memcpy(to, from, size);
}
KS_INLINE void *memmove(void *to, const void *from, size_t size) {
    return __builtin_memmove(to, from, size);
}
KS_INLINE void *memset(void *to, int value, size_t size) { return __builtin_memset(to, value, size); }

#endif
