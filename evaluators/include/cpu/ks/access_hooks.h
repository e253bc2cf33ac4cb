/* The functions that compilers call for each access under -fsanitize=thread: ours, not libtsan's. */
#ifndef KS_ACCESS_HOOKS_H
#define KS_ACCESS_HOOKS_H

#include "races.h"

#ifdef __clang__
#define KS_KEPT used
#else
#define KS_KEPT used, externally_visible
#endif
#define KS_HOOK(Result, name, ...)                                                                 \
    KS_QUIET __attribute__((KS_KEPT, noinline, visibility("hidden"))) Result ks_hook_##name(       \
        __VA_ARGS__) __asm__("__tsan_" #name);                                                     \
    Result ks_hook_##name(__VA_ARGS__)
#define KS_CALLER (const char *)__builtin_return_address(0)

KS_HOOK(void, init) {}
KS_HOOK(void, func_entry, void *) {}
KS_HOOK(void, func_exit, void *) {}
KS_HOOK(void, vptr_update, void **, void *) {}
KS_HOOK(void, vptr_read, void **) {}

/* Of a type that asks for eight bytes or more; others are told as unaligned, or as ranges. */
KS_QUIET static inline void ks_check_aligned(unsigned long long at, int bytes, const char *code) {
    if (bytes >= 8 && at % 8) ks_tell(KS_MISALIGNED, code);
}
#define KS_ACCESS(name, bytes)                                                                     \
    KS_HOOK(void, read##name, unsigned long long at) {                                             \
        ks_check_aligned(at, bytes, KS_CALLER);                                                    \
        ks_reads(at, bytes, KS_CALLER);                                                            \
    }                                                                                              \
    KS_HOOK(void, write##name, unsigned long long at) {                                            \
        ks_check_aligned(at, bytes, KS_CALLER);                                                    \
        ks_writes(at, bytes, KS_CALLER);                                                           \
    }                                                                                              \
    KS_HOOK(void, unaligned_read##name, unsigned long long at) { ks_reads(at, bytes, KS_CALLER); } \
    KS_HOOK(void, unaligned_write##name, unsigned long long at) { ks_writes(at, bytes, KS_CALLER); }
KS_ACCESS(1, 1)
KS_ACCESS(2, 2)
KS_ACCESS(4, 4)
KS_ACCESS(8, 8)
KS_ACCESS(16, 16)

KS_HOOK(void, read_range, unsigned long long at, size_t size) { ks_reads(at, size, KS_CALLER); }
KS_HOOK(void, write_range, unsigned long long at, size_t size) { ks_writes(at, size, KS_CALLER); }

KS_HOOK(void *, memset, unsigned char *to, int value, size_t size) {
    ks_writes((unsigned long long)to, size, KS_CALLER);
    return __builtin_memset(to, value, size);
}
KS_HOOK(void *, memcpy, unsigned char *to, const unsigned char *from, size_t size) {
    ks_reads((unsigned long long)from, size, KS_CALLER);
    ks_writes((unsigned long long)to, size, KS_CALLER);
    return __builtin_memcpy(to, from, size);
}
KS_HOOK(void *, memmove, unsigned char *to, const unsigned char *from, size_t size) {
    ks_reads((unsigned long long)from, size, KS_CALLER);
    ks_writes((unsigned long long)to, size, KS_CALLER);
    return __builtin_memmove(to, from, size);
}

/* The compiler's own atomic operations, which a kernel may call by their builtin names; the emitter
 * sees whether one does, for they would be a quarter of what there is to compile. */
#ifdef KS_BUILTIN_ATOMICS
#define KS_FETCH(bits, T, name, result, reads)                                                     \
    KS_HOOK(T, atomic##bits##_##name, volatile T *at, T value, int order) {                        \
        ks_fence_as(order, KS_DEVICE_SCOPE);                                                       \
        const T old = ks_touches(at, reads, KS_CALLER) ? value : *at;                              \
        *at = result;                                                                              \
        return old;                                                                                \
    }
#define KS_EXCHANGE(bits, T, name)                                                                 \
    KS_HOOK(int, atomic##bits##_##name, volatile T *at, T *expected, T value, int order, int) {    \
        ks_fence_as(order, KS_DEVICE_SCOPE);                                                       \
        ks_touches(at, true, KS_CALLER);                                                           \
        const T old = *at;                                                                         \
        if (old == *expected) {                                                                    \
            *at = value;                                                                           \
            return 1;                                                                              \
        }                                                                                          \
        *expected = old;                                                                           \
        return 0;                                                                                  \
    }
#define KS_ATOMICS(bits, T)                                                                        \
    KS_HOOK(T, atomic##bits##_load, const volatile T *at, int) {                                   \
        ks_touches(at, true, KS_CALLER);                                                           \
        return *at;                                                                                \
    }                                                                                              \
    KS_HOOK(void, atomic##bits##_store, volatile T *at, T value, int order) {                      \
        ks_fence_as(order, KS_DEVICE_SCOPE);                                                       \
        ks_touches(at, false, KS_CALLER);                                                          \
        *at = value;                                                                               \
    }                                                                                              \
    KS_FETCH(bits, T, exchange, value, false)                                                      \
    KS_FETCH(bits, T, fetch_add, old + value, true)                                                \
    KS_FETCH(bits, T, fetch_sub, old - value, true)                                                \
    KS_FETCH(bits, T, fetch_and, old & value, true)                                                \
    KS_FETCH(bits, T, fetch_or, old | value, true)                                                 \
    KS_FETCH(bits, T, fetch_xor, old ^ value, true)                                                \
    KS_FETCH(bits, T, fetch_nand, ~(old & value), true)                                            \
    KS_EXCHANGE(bits, T, compare_exchange_strong)                                                  \
    KS_EXCHANGE(bits, T, compare_exchange_weak)
KS_ATOMICS(8, unsigned char)
KS_ATOMICS(16, unsigned short)
KS_ATOMICS(32, unsigned)
KS_ATOMICS(64, unsigned long long)
#endif

/* By -fsanitize=alignment: a pointer that its type asks more of than it has. */
struct KsMismatch {
    const char *file;
    unsigned line, column;
    const void *type;
    unsigned char log_alignment, kind;
};
#define KS_ALIGNMENT_HOOK(name, ...)                                                               \
    KS_QUIET __attribute__((KS_KEPT, noinline, visibility("hidden"))) void ks_hook_##name(         \
        __VA_ARGS__) __asm__("__ubsan_handle_" #name);                                             \
    void ks_hook_##name(__VA_ARGS__)
KS_ALIGNMENT_HOOK(type_mismatch_v1, const KsMismatch *found, unsigned long long) {
    if (found->log_alignment >= 3) ks_tell(KS_MISALIGNED, KS_CALLER);
}
KS_ALIGNMENT_HOOK(alignment_assumption, const void *, unsigned long long, unsigned long long,
                  unsigned long long) {
    ks_tell(KS_MISALIGNED, KS_CALLER);
}

KS_HOOK(void, atomic_thread_fence, int order) {
    ks_release();
    ks_fence_as(order, KS_DEVICE_SCOPE);
}
KS_HOOK(void, atomic_signal_fence, int) {}

#endif
