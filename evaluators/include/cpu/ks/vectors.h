/* HIP's vector types with their element-wise operators, and make_*. */
#ifndef KS_VECTORS_H
#define KS_VECTORS_H

template <typename V> struct KsVector; /* element and count of a vector type; of no other */
template <typename V> using KsElement = typename KsVector<V>::Element;

template <typename V> KS_INLINE V ks_filled(KsElement<V> x) {
    if constexpr (KsVector<V>::count == 1) return V{x};
    else if constexpr (KsVector<V>::count == 2) return V{x, x};
    else if constexpr (KsVector<V>::count == 3) return V{x, x, x};
    else return V{x, x, x, x};
}

/* Templates: written out for each type, a thousand functions would be read with every kernel. */
#define KS_OPERATOR(sign)                                                                          \
    template <typename V, typename T = KsElement<V>>                                               \
    KS_INLINE V operator sign(const V &a, const V &b) {                                            \
        if constexpr (KsVector<V>::count == 1) return V{(T)(a.x sign b.x)};                        \
        else if constexpr (KsVector<V>::count == 2)                                                \
            return V{(T)(a.x sign b.x), (T)(a.y sign b.y)};                                        \
        else if constexpr (KsVector<V>::count == 3)                                                \
            return V{(T)(a.x sign b.x), (T)(a.y sign b.y), (T)(a.z sign b.z)};                     \
        else                                                                                       \
            return V{(T)(a.x sign b.x), (T)(a.y sign b.y), (T)(a.z sign b.z), (T)(a.w sign b.w)};  \
    }                                                                                              \
    template <typename V> KS_INLINE V operator sign(const V &a, KsElement<V> b) {                  \
        return a sign ks_filled<V>(b);                                                             \
    }                                                                                              \
    template <typename V> KS_INLINE V operator sign(KsElement<V> a, const V &b) {                  \
        return ks_filled<V>(a) sign b;                                                             \
    }                                                                                              \
    template <typename V, typename T = KsElement<V>>                                               \
    KS_INLINE V &operator sign##=(V &a, const V &b) { return a = a sign b; }                       \
    template <typename V> KS_INLINE V &operator sign##=(V &a, KsElement<V> b) {                    \
        return a = a sign b;                                                                       \
    }

KS_OPERATOR(+)
KS_OPERATOR(-)
KS_OPERATOR(*)
KS_OPERATOR(/)

#define KS_VECTOR(V, T, n)                                                                         \
    template <> struct KsVector<V> { using Element = T; static constexpr int count = n; };
#define KS_VECTOR_OPERATORS(name, T)                                                               \
    KS_VECTOR(name##1, T, 1) KS_VECTOR(name##2, T, 2)                                              \
    KS_VECTOR(name##3, T, 3) KS_VECTOR(name##4, T, 4)

#ifdef KS_VECTORS_BUILT_IN /* the compiler has the types, not the operators */
#define KS_VECTORS(name, T) KS_VECTOR_OPERATORS(name, T)
#else
#define KS_VECTORS(name, T)                                                                        \
    struct name##1 { T x; };                                                                       \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                             \
    struct name##3 { T x, y, z; };                                                                 \
    struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };             \
    KS_INLINE name##1 make_##name##1(T x) { return {x}; }                                          \
    KS_INLINE name##2 make_##name##2(T x, T y) { return {x, y}; }                                  \
    KS_INLINE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                          \
    KS_INLINE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }                  \
    KS_VECTOR_OPERATORS(name, T)
#endif

KS_VECTORS(char, signed char)
KS_VECTORS(uchar, unsigned char)
KS_VECTORS(short, short)
KS_VECTORS(ushort, unsigned short)
KS_VECTORS(int, int)
KS_VECTORS(uint, unsigned int)
KS_VECTORS(long, long)
KS_VECTORS(ulong, unsigned long)
KS_VECTORS(longlong, long long)
KS_VECTORS(ulonglong, unsigned long long)
KS_VECTORS(float, float)
KS_VECTORS(double, double)

#endif
