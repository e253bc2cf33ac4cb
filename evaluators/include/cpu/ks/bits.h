/* Bit counts, permutations, high products, reinterpretation, loads and stores with hints. */
#ifndef KS_BITS_H
#define KS_BITS_H

template <typename To, typename From> KS_INLINE To ks_bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "sizes differ");
    To to;
    __builtin_memcpy(&to, &from, sizeof to);
    return to;
}

KS_INLINE int __float_as_int(float x) { return ks_bits<int>(x); }
KS_INLINE unsigned __float_as_uint(float x) { return ks_bits<unsigned>(x); }
KS_INLINE float __int_as_float(int x) { return ks_bits<float>(x); }
KS_INLINE float __uint_as_float(unsigned x) { return ks_bits<float>(x); }
KS_INLINE long long __double_as_longlong(double x) { return ks_bits<long long>(x); }
KS_INLINE double __longlong_as_double(long long x) { return ks_bits<double>(x); }
KS_INLINE double __hiloint2double(int high, int low) {
    return ks_bits<double>((unsigned long long)(unsigned)high << 32 | (unsigned)low);
}
KS_INLINE int __double2hiint(double x) { return (int)(ks_bits<long long>(x) >> 32); }
KS_INLINE int __double2loint(double x) { return (int)ks_bits<long long>(x); }

KS_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
KS_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KS_INLINE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
KS_INLINE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KS_INLINE int __ffs(int x) { return __builtin_ffs(x); }
KS_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }

KS_INLINE unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(x);
}
KS_INLINE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
KS_INLINE unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    unsigned long long bytes = (unsigned long long)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i)
        result |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return result;
}
KS_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) << (shift & 31) >> 32);
}
KS_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
KS_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
KS_INLINE unsigned __umulhi(unsigned a, unsigned b) {
    return (unsigned)((unsigned long long)a * b >> 32);
}
KS_INLINE long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
KS_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}
/* Products of the low 24 bits, sign-extended for __mul24. */
KS_INLINE int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
KS_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xFFFFFF) * (b & 0xFFFFFF); }
/* Means that don't overflow, rounded down and up. */
KS_INLINE int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
KS_INLINE int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
KS_INLINE unsigned __uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
KS_INLINE unsigned __urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }
KS_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
KS_INLINE unsigned __sad(int a, int b, unsigned c) {
    return (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a) + c;
}

/* A processor's caches take no hints. */
#define KS_LOAD(name)                                                                              \
    template <typename T> KS_INLINE T name(const T *p) { return *p; }
KS_LOAD(__ldg) KS_LOAD(__ldca) KS_LOAD(__ldcg) KS_LOAD(__ldcs) KS_LOAD(__ldlu) KS_LOAD(__ldcv)
#define KS_STORE(name)                                                                             \
    template <typename T> KS_INLINE void name(T *p, KsExactly<T> value) { *p = value; }
KS_STORE(__stwb) KS_STORE(__stcg) KS_STORE(__stcs) KS_STORE(__stwt)

#ifndef __clang__ /* built into the compilers that HIP knows */
#define __builtin_nontemporal_load(p) (*(p))
#define __builtin_nontemporal_store(value, p) ((void)(*(p) = (value)))
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())
#endif

KS_INLINE void __trap() { __builtin_trap(); }
KS_INLINE void abort() { __builtin_trap(); }

#endif
