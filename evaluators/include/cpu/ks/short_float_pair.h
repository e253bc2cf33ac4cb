/* Element-wise functions of KS_PAIR, two KS_TYPE; included once for each type. */

#ifdef KS_PAIR_VECTOR /* a type of the compiler's that computes both at once */
#define KS_PAIR_OPERATOR(sign)                                                                     \
    KS_INLINE KS_PAIR operator sign(KS_PAIR a, KS_PAIR b) {                                        \
        return ks_bits<KS_PAIR>(ks_bits<KS_PAIR_VECTOR>(a) sign ks_bits<KS_PAIR_VECTOR>(b));       \
    }
KS_PAIR_OPERATOR(+) KS_PAIR_OPERATOR(-) KS_PAIR_OPERATOR(*) KS_PAIR_OPERATOR(/)
KS_INLINE KS_PAIR __hfma2(KS_PAIR a, KS_PAIR b, KS_PAIR c) {
    return ks_bits<KS_PAIR>(__builtin_elementwise_fma(
        ks_bits<KS_PAIR_VECTOR>(a), ks_bits<KS_PAIR_VECTOR>(b), ks_bits<KS_PAIR_VECTOR>(c)));
}
#undef KS_PAIR_OPERATOR
#else
KS_INLINE KS_PAIR operator+(KS_PAIR a, KS_PAIR b) { return {a.x + b.x, a.y + b.y}; }
KS_INLINE KS_PAIR operator-(KS_PAIR a, KS_PAIR b) { return {a.x - b.x, a.y - b.y}; }
KS_INLINE KS_PAIR operator*(KS_PAIR a, KS_PAIR b) { return {a.x * b.x, a.y * b.y}; }
KS_INLINE KS_PAIR operator/(KS_PAIR a, KS_PAIR b) { return {a.x / b.x, a.y / b.y}; }
KS_INLINE KS_PAIR __hfma2(KS_PAIR a, KS_PAIR b, KS_PAIR c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
#endif
KS_INLINE KS_PAIR &operator+=(KS_PAIR &a, KS_PAIR b) { return a = a + b; }
KS_INLINE KS_PAIR &operator-=(KS_PAIR &a, KS_PAIR b) { return a = a - b; }
KS_INLINE KS_PAIR &operator*=(KS_PAIR &a, KS_PAIR b) { return a = a * b; }
KS_INLINE KS_PAIR __hadd2(KS_PAIR a, KS_PAIR b) { return a + b; }
KS_INLINE KS_PAIR __hsub2(KS_PAIR a, KS_PAIR b) { return a - b; }
KS_INLINE KS_PAIR __hmul2(KS_PAIR a, KS_PAIR b) { return a * b; }
KS_INLINE KS_PAIR __h2div(KS_PAIR a, KS_PAIR b) { return a / b; }
KS_INLINE KS_PAIR __hneg2(KS_PAIR a) { return {-a.x, -a.y}; }
KS_INLINE KS_PAIR __habs2(KS_PAIR a) { return {__habs(a.x), __habs(a.y)}; }
KS_INLINE KS_PAIR __hmax2(KS_PAIR a, KS_PAIR b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }
KS_INLINE KS_PAIR __hmin2(KS_PAIR a, KS_PAIR b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
KS_INLINE KS_PAIR &operator/=(KS_PAIR &a, KS_PAIR b) { return a = a / b; }
KS_INLINE KS_PAIR operator-(KS_PAIR a) { return {-a.x, -a.y}; }
KS_INLINE bool operator==(KS_PAIR a, KS_PAIR b) { return __heq(a.x, b.x) && __heq(a.y, b.y); }
#define KS_PAIR_EACH(name)                                                                         \
    KS_INLINE KS_PAIR h2##name(KS_PAIR a) { return {h##name(a.x), h##name(a.y)}; }
KS_PAIR_EACH(exp) KS_PAIR_EACH(exp2) KS_PAIR_EACH(exp10) KS_PAIR_EACH(log) KS_PAIR_EACH(log2)
KS_PAIR_EACH(log10) KS_PAIR_EACH(sqrt) KS_PAIR_EACH(rsqrt) KS_PAIR_EACH(rcp) KS_PAIR_EACH(sin)
KS_PAIR_EACH(cos) KS_PAIR_EACH(floor) KS_PAIR_EACH(ceil) KS_PAIR_EACH(trunc) KS_PAIR_EACH(rint)
/* A comparison of each, as 1 or 0; and whether it holds for both. */
#define KS_PAIR_COMPARES(name)                                                                     \
    KS_INLINE KS_PAIR __h##name##2(KS_PAIR a, KS_PAIR b) {                                         \
        return {KS_TYPE(float(__h##name(a.x, b.x))), KS_TYPE(float(__h##name(a.y, b.y)))};         \
    }                                                                                              \
    KS_INLINE bool __hb##name##2(KS_PAIR a, KS_PAIR b) {                                           \
        return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                         \
    }
KS_PAIR_COMPARES(eq) KS_PAIR_COMPARES(ne) KS_PAIR_COMPARES(lt) KS_PAIR_COMPARES(le)
KS_PAIR_COMPARES(gt) KS_PAIR_COMPARES(ge)
KS_INLINE float __low2float(KS_PAIR a) { return a.x; }
KS_INLINE float __high2float(KS_PAIR a) { return a.y; }

#undef KS_PAIR_EACH
#undef KS_PAIR_COMPARES
#undef KS_PAIR_VECTOR
#undef KS_PAIR
#undef KS_TYPE
