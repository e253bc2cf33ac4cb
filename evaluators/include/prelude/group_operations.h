/* What reduce and scans are given, in cooperative_groups; and what each leaves a value as it is. */

#define KS_GROUP_OPERATION(name, ...)                                                              \
    template <typename T = void> struct name {                                                     \
        KS_MEMBER T operator()(const T &a, const T &b) const { return __VA_ARGS__; }               \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <typename T> KS_MEMBER T operator()(const T &a, const T &b) const {               \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };
KS_GROUP_OPERATION(plus, a + b)
KS_GROUP_OPERATION(less, b < a ? b : a)
KS_GROUP_OPERATION(greater, a < b ? b : a)
KS_GROUP_OPERATION(bit_and, a & b)
KS_GROUP_OPERATION(bit_or, a | b)
KS_GROUP_OPERATION(bit_xor, a ^ b)
#undef KS_GROUP_OPERATION

template <typename T, typename Operation> KS_INLINE T ks_identity(const Operation &) {
    return T();
}
/* The largest number of a type; 0 where it is no number. */
template <typename T> KS_INLINE T ks_most() {
    if constexpr (!ks_is_number<T>) return T();
    else if constexpr (!ks_is_whole<T>) return T(INFINITY);
    else return T(-1) < T(0) ? T((1ull << (8 * sizeof(T) - 1)) - 1) : T(-1);
}
template <typename T, typename U> KS_INLINE T ks_identity(const less<U> &) { return ks_most<T>(); }
template <typename T, typename U> KS_INLINE T ks_identity(const greater<U> &) {
    return ks_is_whole<T> ? T(-1) < T(0) ? T(-ks_most<T>() - T(1)) : T() : T(-ks_most<T>());
}
template <typename T, typename U> KS_INLINE T ks_identity(const bit_and<U> &) { return T(~T()); }
