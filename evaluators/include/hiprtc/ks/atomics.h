/* Atomic operations on types, and with scopes, that AMD's header leaves out: templates, which give
 * way to it where it has them. */
#ifndef KS_ATOMICS_H
#define KS_ATOMICS_H

#define KS_ATOMIC_OF(name, operation, suffix, scope)                                               \
    template <typename T> KS_INLINE T name##suffix(T *address, KsExactly<T> value) {               \
        return operation(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope);            \
    }
#define KS_ATOMIC(name, operation)                                                                 \
    KS_ATOMIC_OF(name, operation, , AGENT)                                                         \
    KS_ATOMIC_OF(name, operation, _block, WORKGROUP)                                               \
    KS_ATOMIC_OF(name, operation, _system, SYSTEM)
#define KS_FETCH_SUB(address, value, order, scope)                                                 \
    __hip_atomic_fetch_add(address, -(value), order, scope)
KS_ATOMIC(atomicAdd, __hip_atomic_fetch_add)
KS_ATOMIC(atomicSub, KS_FETCH_SUB)
KS_ATOMIC(atomicMin, __hip_atomic_fetch_min)
KS_ATOMIC(atomicMax, __hip_atomic_fetch_max)
KS_ATOMIC(atomicAnd, __hip_atomic_fetch_and)
KS_ATOMIC(atomicOr, __hip_atomic_fetch_or)
KS_ATOMIC(atomicXor, __hip_atomic_fetch_xor)
KS_ATOMIC(atomicExch, __hip_atomic_exchange)

#define KS_EXCHANGE_IF(suffix, scope)                                                              \
    template <typename T>                                                                          \
    KS_INLINE T atomicCAS##suffix(T *address, KsExactly<T> expected, KsExactly<T> value) {         \
        __hip_atomic_compare_exchange_strong(address, &expected, value, __ATOMIC_RELAXED,          \
                                             __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope);        \
        return expected;                                                                           \
    }
KS_EXCHANGE_IF(, AGENT)
KS_EXCHANGE_IF(_block, WORKGROUP)
KS_EXCHANGE_IF(_system, SYSTEM)

#undef KS_ATOMIC_OF
#undef KS_ATOMIC
#undef KS_FETCH_SUB
#undef KS_EXCHANGE_IF
#endif
