/* memcpy and relatives: <cstring>'s names. Templates, beside which a source may declare its own. */
#ifndef KS_MEMORY_NAMES_H
#define KS_MEMORY_NAMES_H

template <int = 0> KS_INLINE void *memcpy(void *to, const void *from, size_t size);
template <int = 0> KS_INLINE void *memmove(void *to, const void *from, size_t size);
template <int = 0> KS_INLINE void *memset(void *to, int value, size_t size);

#endif
