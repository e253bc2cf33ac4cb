/* Atomic operations that HIP has, or that one expects, and CUDA leaves out. */
#ifndef KS_ATOMICS_H
#define KS_ATOMICS_H

/* For numbers that are no NaN, the order of floats is that of their bits, reversed below zero. */
KS_INLINE float atomicMax(float *address, float value) {
    return value >= 0 ? __int_as_float(atomicMax((int *)address, __float_as_int(value)))
                      : __uint_as_float(atomicMin((unsigned *)address, __float_as_uint(value)));
}
KS_INLINE float atomicMin(float *address, float value) {
    return value >= 0 ? __int_as_float(atomicMin((int *)address, __float_as_int(value)))
                      : __uint_as_float(atomicMax((unsigned *)address, __float_as_uint(value)));
}
KS_INLINE double atomicMax(double *address, double value) {
    long long *bits = (long long *)address;
    return __longlong_as_double(
        value >= 0 ? atomicMax(bits, __double_as_longlong(value))
                   : (long long)atomicMin((unsigned long long *)bits,
                                          (unsigned long long)__double_as_longlong(value)));
}
KS_INLINE double atomicMin(double *address, double value) {
    long long *bits = (long long *)address;
    return __longlong_as_double(
        value >= 0 ? atomicMin(bits, __double_as_longlong(value))
                   : (long long)atomicMax((unsigned long long *)bits,
                                          (unsigned long long)__double_as_longlong(value)));
}
KS_INLINE float atomicSub(float *address, float value) { return atomicAdd(address, -value); }
KS_INLINE double atomicSub(double *address, double value) { return atomicAdd(address, -value); }

/* Integers of 64 bits as those that CUDA knows: U is unsigned long long, S that or long long. */
#define KS_ATOMIC64(name, T, U)                                                                    \
    KS_INLINE T name(T *address, T value) { return (T)name((U *)address, (U)value); }
#define KS_ATOMICS64(T, S)                                                                         \
    KS_ATOMIC64(atomicExch, T, unsigned long long) KS_ATOMIC64(atomicAnd, T, S)                    \
    KS_ATOMIC64(atomicOr, T, S) KS_ATOMIC64(atomicXor, T, S) KS_ATOMIC64(atomicMin, T, S)          \
    KS_ATOMIC64(atomicMax, T, S)                                                                   \
    KS_ATOMIC64(atomicAdd, T, unsigned long long)                                                  \
    KS_INLINE T atomicSub(T *address, T value) { return atomicAdd(address, (T)(0 - value)); }      \
    KS_INLINE T atomicCAS(T *address, T expected, T value) {                                       \
        return (T)atomicCAS((unsigned long long *)address, (unsigned long long)expected,           \
                            (unsigned long long)value);                                            \
    }
KS_ATOMICS64(long, long long)
KS_ATOMICS64(unsigned long, unsigned long long)
KS_ATOMIC64(atomicAdd, long long, unsigned long long)
KS_ATOMIC64(atomicExch, long long, unsigned long long)
KS_INLINE long long atomicCAS(long long *address, long long expected, long long value) {
    return (long long)atomicCAS((unsigned long long *)address, (unsigned long long)expected,
                                (unsigned long long)value);
}
KS_INLINE unsigned long long atomicSub(unsigned long long *address, unsigned long long value) {
    return atomicAdd(address, 0 - value);
}
#undef KS_ATOMIC64
#undef KS_ATOMICS64

template <typename T> KS_INLINE T unsafeAtomicAdd(T *address, KsExactly<T> value) {
    return atomicAdd(address, value);
}
template <typename T> KS_INLINE T safeAtomicAdd(T *address, KsExactly<T> value) {
    return atomicAdd(address, value);
}
template <typename T> KS_INLINE void atomicAddNoRet(T *address, KsExactly<T> value) {
    atomicAdd(address, value);
}

#endif
