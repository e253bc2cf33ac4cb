/* min and max: of numbers of one type, and of two, which meet in the type of their sum. */
#ifndef KS_EXTREMES_H
#define KS_EXTREMES_H

#define KS_INTEGER_EXTREMES(T)                                                                     \
    KS_INLINE T min(T a, T b) { return b < a ? b : a; }                                            \
    KS_INLINE T max(T a, T b) { return a < b ? b : a; }
KS_INTEGER_EXTREMES(int) KS_INTEGER_EXTREMES(unsigned) KS_INTEGER_EXTREMES(long)
KS_INTEGER_EXTREMES(unsigned long) KS_INTEGER_EXTREMES(long long)
KS_INTEGER_EXTREMES(unsigned long long)
KS_EXTREME(max, float, >) KS_EXTREME(max, double, >) KS_EXTREME(min, float, <)
KS_EXTREME(min, double, <)
template <typename A, typename B> KS_INLINE auto min(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return min(T(a), T(b));
}
template <typename A, typename B> KS_INLINE auto max(A a, B b) -> decltype(a + b) {
    using T = decltype(a + b);
    return max(T(a), T(b));
}

#define KS_EXTREMES_OF(prefix, T)                                                                  \
    template <int = 0> KS_INLINE T prefix##min(T a, T b) { return min(a, b); }                     \
    template <int = 0> KS_INLINE T prefix##max(T a, T b) { return max(a, b); }
KS_EXTREMES_OF(u, unsigned) KS_EXTREMES_OF(ll, long long) KS_EXTREMES_OF(ull, unsigned long long)

KS_INLINE int abs(int x) { return x < 0 ? -x : x; }
KS_INLINE long abs(long x) { return x < 0 ? -x : x; }
KS_INLINE long long abs(long long x) { return x < 0 ? -x : x; }
KS_INLINE float abs(float x) { return fabsf(x); }
KS_INLINE double abs(double x) { return fabs(x); }
KS_INLINE long labs(long x) { return x < 0 ? -x : x; }
KS_INLINE long long llabs(long long x) { return x < 0 ? -x : x; }

#endif
