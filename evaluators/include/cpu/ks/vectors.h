/* HIP's vector types with their element-wise operators, and make_*. */
#ifndef KS_VECTORS_H
#define KS_VECTORS_H

#define KS_VECTOR_OPERATOR(V, T, sign, e1, e2, e3)                                                \
    KS_INLINE V operator sign(const V &a, const V &b) { return e1; }                               \
    KS_INLINE V operator sign(const V &a, T b) { return e2; }                                      \
    KS_INLINE V operator sign(T a, const V &b) { return e3; }                                      \
    KS_INLINE V &operator sign##=(V &a, const V &b) { return a = a sign b; }                       \
    KS_INLINE V &operator sign##=(V &a, T b) { return a = a sign b; }

#define KS_OPERATOR1(V, T, sign) KS_VECTOR_OPERATOR(V, T, sign, \
    (V{(T)(a.x sign b.x)}), (V{(T)(a.x sign b)}), (V{(T)(a sign b.x)}))
#define KS_OPERATOR2(V, T, sign) KS_VECTOR_OPERATOR(V, T, sign, \
    (V{(T)(a.x sign b.x), (T)(a.y sign b.y)}), \
    (V{(T)(a.x sign b), (T)(a.y sign b)}), \
    (V{(T)(a sign b.x), (T)(a sign b.y)}))
#define KS_OPERATOR3(V, T, sign) KS_VECTOR_OPERATOR(V, T, sign, \
    (V{(T)(a.x sign b.x), (T)(a.y sign b.y), (T)(a.z sign b.z)}), \
    (V{(T)(a.x sign b), (T)(a.y sign b), (T)(a.z sign b)}), \
    (V{(T)(a sign b.x), (T)(a sign b.y), (T)(a sign b.z)}))
#define KS_OPERATOR4(V, T, sign) KS_VECTOR_OPERATOR(V, T, sign, \
    (V{(T)(a.x sign b.x), (T)(a.y sign b.y), (T)(a.z sign b.z), (T)(a.w sign b.w)}), \
    (V{(T)(a.x sign b), (T)(a.y sign b), (T)(a.z sign b), (T)(a.w sign b)}), \
    (V{(T)(a sign b.x), (T)(a sign b.y), (T)(a sign b.z), (T)(a sign b.w)}))

#define KS_ARITHMETIC(n, V, T) \
    KS_OPERATOR##n(V, T, +) KS_OPERATOR##n(V, T, -) \
    KS_OPERATOR##n(V, T, *) KS_OPERATOR##n(V, T, /)

#define KS_VECTOR_OPERATORS(name, T) \
    KS_ARITHMETIC(1, name##1, T) KS_ARITHMETIC(2, name##2, T) \
    KS_ARITHMETIC(3, name##3, T) KS_ARITHMETIC(4, name##4, T)

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
