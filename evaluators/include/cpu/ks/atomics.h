/* Atomic operations. One core runs all threads of a launch, one after another: plain ones do. */
#ifndef KS_ATOMICS_H
#define KS_ATOMICS_H

#ifdef KS_ORACLE /* which watches accesses: these are told to it by themselves; see races.h */
#define KS_ATOMICALLY __attribute__((noinline, no_sanitize("thread"))) static
KS_ATOMICALLY bool ks_touches(const volatile void *address, bool reads, const char *code);
KS_ATOMICALLY void ks_release();
KS_ATOMICALLY void ks_fence();
#define KS_TOUCHES(address, reads)                                                                 \
    ks_touches(address, reads, (const char *)__builtin_return_address(0))
#else
#define KS_ATOMICALLY KS_INLINE
#define KS_TOUCHES(address, reads) false
KS_INLINE void ks_release() {}
KS_INLINE void ks_fence() {}
#endif

/* A release that other blocks may rely on is as good as a fence before it. */
enum { KS_DEVICE_SCOPE = 4 };
KS_INLINE void ks_fence_as(int order, int scope) {
    if (order % 8 >= __ATOMIC_RELEASE && scope >= KS_DEVICE_SCOPE) ks_fence();
}
#define KS_ORDERED int order = __ATOMIC_RELAXED, int scope = KS_DEVICE_SCOPE

#define KS_ATOMIC(name, result, reads)                                                             \
    template <typename T> KS_ATOMICALLY T name(T *address, KsExactly<T> value, KS_ORDERED) {       \
        ks_fence_as(order, scope);                                                                 \
        T old = KS_TOUCHES(address, reads) ? value : *address;                                     \
        *address = result;                                                                         \
        return old;                                                                                \
    }                                                                                              \
    template <typename T> KS_INLINE T name##_system(T *address, KsExactly<T> value) {              \
        return name(address, value);                                                               \
    }                                                                                              \
    template <typename T> KS_INLINE T name##_block(T *address, KsExactly<T> value) {               \
        return name(address, value);                                                               \
    }

KS_ATOMIC(atomicAdd, old + value, true)
KS_ATOMIC(atomicSub, old - value, true)
KS_ATOMIC(atomicMin, value < old ? value : old, true)
KS_ATOMIC(atomicMax, old < value ? value : old, true)
KS_ATOMIC(atomicAnd, old &value, true)
KS_ATOMIC(atomicOr, old | value, true)
KS_ATOMIC(atomicXor, old ^ value, true)
KS_ATOMIC(atomicExch, value, false)
KS_ATOMIC(atomicInc, old >= value ? T(0) : old + 1, true)
KS_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1, true)
KS_ATOMIC(unsafeAtomicAdd, old + value, true)
KS_ATOMIC(safeAtomicAdd, old + value, true)

template <typename T> KS_INLINE void atomicAddNoRet(T *address, KsExactly<T> value) {
    atomicAdd(address, value);
}

template <typename T>
KS_ATOMICALLY T atomicCAS(T *address, KsExactly<T> expected, KsExactly<T> value) {
    KS_TOUCHES(address, true);
    T old = *address;
    if (old == expected) *address = value;
    return old;
}

template <typename T> KS_ATOMICALLY T __hip_atomic_load_at(const volatile T *address) {
    KS_TOUCHES(address, true);
    return *address;
}
template <typename T>
KS_ATOMICALLY void __hip_atomic_store_at(T *address, KsExactly<T> value, KS_ORDERED) {
    ks_fence_as(order, scope);
    KS_TOUCHES(address, false);
    *address = value;
}

KS_INLINE void __threadfence() { ks_fence(); }
KS_INLINE void __threadfence_block() { ks_release(); }
KS_INLINE void __threadfence_system() { ks_fence(); }

#ifndef __clang__
#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
#endif
#define __hip_atomic_load(address, order, scope) __hip_atomic_load_at(address)
#define __hip_atomic_store(address, value, order, scope)                                           \
    __hip_atomic_store_at(address, value, order, scope)
#define __hip_atomic_fetch_add(address, value, order, scope)                                       \
    atomicAdd(address, value, order, scope)
#define __hip_atomic_fetch_min(address, value, order, scope)                                       \
    atomicMin(address, value, order, scope)
#define __hip_atomic_fetch_max(address, value, order, scope)                                       \
    atomicMax(address, value, order, scope)
#define __hip_atomic_fetch_and(address, value, order, scope)                                       \
    atomicAnd(address, value, order, scope)
#define __hip_atomic_fetch_or(address, value, order, scope)                                        \
    atomicOr(address, value, order, scope)
#define __hip_atomic_fetch_xor(address, value, order, scope)                                       \
    atomicXor(address, value, order, scope)
#define __hip_atomic_exchange(address, value, order, scope)                                        \
    atomicExch(address, value, order, scope)

#endif
