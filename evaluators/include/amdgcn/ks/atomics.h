/* Atomic operations and fences; without a suffix, of the whole GPU. */
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

KS_INLINE unsigned atomicInc(unsigned *address, unsigned limit) {
    return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, "agent");
}
KS_INLINE unsigned atomicDec(unsigned *address, unsigned limit) {
    return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, "agent");
}

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

/* The instruction itself, where AMD's headers choose it: memory of the GPU's own only. */
template <typename T> KS_INLINE T unsafeAtomicAdd(T *address, KsExactly<T> value) {
    return atomicAdd(address, value);
}
KS_INLINE float unsafeAtomicAdd(float *address, float value) {
    return __builtin_amdgcn_flat_atomic_fadd_f32(address, value);
}
KS_INLINE double unsafeAtomicAdd(double *address, double value) {
    return __builtin_amdgcn_flat_atomic_fadd_f64(address, value);
}
template <typename T> KS_INLINE T safeAtomicAdd(T *address, KsExactly<T> value) {
    return atomicAdd(address, value);
}
template <typename T> KS_INLINE void atomicAddNoRet(T *address, KsExactly<T> value) {
    unsafeAtomicAdd(address, value);
}

KS_INLINE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
KS_INLINE void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
KS_INLINE void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }

#endif
