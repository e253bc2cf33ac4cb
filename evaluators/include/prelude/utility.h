/* What device code uses of <utility>, <algorithm>, <functional>, <array> and <bit>. */
#ifndef KS_UTILITY_H
#define KS_UTILITY_H

#include "traits.h"

namespace std {

#ifndef KS_MOVE_BUILT_IN /* as NVRTC has it */
template <typename T> constexpr remove_reference_t<T> &&move(T &&value) noexcept {
    return static_cast<remove_reference_t<T> &&>(value);
}
template <typename T> constexpr T &&forward(remove_reference_t<T> &value) noexcept {
    return static_cast<T &&>(value);
}
template <typename T> constexpr T &&forward(remove_reference_t<T> &&value) noexcept {
    return static_cast<T &&>(value);
}
#endif
template <typename T> constexpr const T &as_const(T &value) noexcept { return value; }
template <typename T> constexpr void swap(T &a, T &b) {
    T kept = static_cast<T &&>(a);
    a = static_cast<T &&>(b);
    b = static_cast<T &&>(kept);
}
template <typename T, decltype(sizeof 0) n> constexpr void swap(T (&a)[n], T (&b)[n]) {
    for (decltype(sizeof 0) i = 0; i < n; ++i) swap(a[i], b[i]);
}
template <typename T, typename U = T> constexpr T exchange(T &value, U &&next) {
    T kept = static_cast<T &&>(value);
    value = static_cast<U &&>(next);
    return kept;
}

template <typename T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <typename T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <typename T, typename Less>
constexpr const T &min(const T &a, const T &b, Less less) { return less(b, a) ? b : a; }
template <typename T, typename Less>
constexpr const T &max(const T &a, const T &b, Less less) { return less(a, b) ? b : a; }
template <typename T> constexpr T min(initializer_list<T> values) {
    T least = *values.begin();
    for (const T &value : values) least = value < least ? value : least;
    return least;
}
template <typename T> constexpr T max(initializer_list<T> values) {
    T most = *values.begin();
    for (const T &value : values) most = most < value ? value : most;
    return most;
}
template <typename T> constexpr const T &clamp(const T &value, const T &low, const T &high) {
    return value < low ? low : high < value ? high : value;
}

template <typename T, T... values> struct integer_sequence {
    using value_type = T;
    static constexpr decltype(sizeof 0) size() { return sizeof...(values); }
};
#if defined(__clang__)
template <typename T, T n> using make_integer_sequence = __make_integer_seq<integer_sequence, T, n>;
#elif defined(__GNUC__) && !defined(__CUDACC__)
template <typename T, T n>
using make_integer_sequence = integer_sequence<T, __integer_pack(n)...>;
#else
template <typename A, typename B> struct ks_joined;
template <typename T, T... a, T... b>
struct ks_joined<integer_sequence<T, a...>, integer_sequence<T, b...>> {
    using type = integer_sequence<T, a..., T(sizeof...(a) + b)...>;
};
template <typename T, decltype(sizeof 0) n> struct ks_count {
    using type = typename ks_joined<typename ks_count<T, n / 2>::type,
                                    typename ks_count<T, n - n / 2>::type>::type;
};
template <typename T> struct ks_count<T, 0> { using type = integer_sequence<T>; };
template <typename T> struct ks_count<T, 1> { using type = integer_sequence<T, 0>; };
template <typename T, T n>
using make_integer_sequence = typename ks_count<T, (decltype(sizeof 0))n>::type;
#endif
template <decltype(sizeof 0)... values>
using index_sequence = integer_sequence<decltype(sizeof 0), values...>;
template <decltype(sizeof 0) n>
using make_index_sequence = make_integer_sequence<decltype(sizeof 0), n>;
template <typename... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <typename A, typename B> struct pair {
    using first_type = A;
    using second_type = B;
    A first;
    B second;
    pair() = default;
    constexpr pair(const A &a, const B &b) : first(a), second(b) {}
    template <typename C, typename D>
    constexpr pair(const pair<C, D> &other) : first(other.first), second(other.second) {}
};
template <typename A, typename B> pair(A, B) -> pair<A, B>;
template <typename A, typename B> constexpr pair<decay_t<A>, decay_t<B>> make_pair(A &&a, B &&b) {
    return {static_cast<A &&>(a), static_cast<B &&>(b)};
}
template <typename A, typename B>
constexpr bool operator==(const pair<A, B> &a, const pair<A, B> &b) {
    return a.first == b.first && a.second == b.second;
}
template <typename A, typename B>
constexpr bool operator<(const pair<A, B> &a, const pair<A, B> &b) {
    return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <typename A, typename B>
constexpr bool operator>(const pair<A, B> &a, const pair<A, B> &b) { return b < a; }

template <typename T, decltype(sizeof 0) n> struct array {
    using value_type = T;
    T elements[n ? n : 1];
    constexpr T &operator[](decltype(sizeof 0) i) { return elements[i]; }
    constexpr const T &operator[](decltype(sizeof 0) i) const { return elements[i]; }
    constexpr T *begin() { return elements; }
    constexpr const T *begin() const { return elements; }
    constexpr T *end() { return elements + n; }
    constexpr const T *end() const { return elements + n; }
    constexpr T *data() { return elements; }
    constexpr const T *data() const { return elements; }
    constexpr T &front() { return elements[0]; }
    constexpr const T &front() const { return elements[0]; }
    constexpr T &back() { return elements[n - 1]; }
    constexpr const T &back() const { return elements[n - 1]; }
    static constexpr decltype(sizeof 0) size() { return n; }
    static constexpr bool empty() { return n == 0; }
    constexpr void fill(const T &value) {
        for (T &element : elements) element = value;
    }
};
template <typename T, typename... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;

#define KS_FUNCTOR(name, Result, sign)                                                             \
    template <typename T = void> struct name {                                                     \
        constexpr Result operator()(const T &a, const T &b) const { return a sign b; }             \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <typename A, typename B>                                                          \
        constexpr auto operator()(const A &a, const B &b) const { return a sign b; }               \
    };
KS_FUNCTOR(plus, T, +) KS_FUNCTOR(minus, T, -) KS_FUNCTOR(multiplies, T, *)
KS_FUNCTOR(divides, T, /) KS_FUNCTOR(modulus, T, %)
KS_FUNCTOR(bit_and, T, &) KS_FUNCTOR(bit_or, T, |) KS_FUNCTOR(bit_xor, T, ^)
KS_FUNCTOR(logical_and, bool, &&) KS_FUNCTOR(logical_or, bool, ||)
KS_FUNCTOR(equal_to, bool, ==) KS_FUNCTOR(not_equal_to, bool, !=)
KS_FUNCTOR(less, bool, <) KS_FUNCTOR(greater, bool, >)
KS_FUNCTOR(less_equal, bool, <=) KS_FUNCTOR(greater_equal, bool, >=)
#undef KS_FUNCTOR
struct identity {
    template <typename T> constexpr T &&operator()(T &&value) const noexcept {
        return static_cast<T &&>(value);
    }
};

#ifdef __has_builtin
#if __has_builtin(__builtin_bit_cast)
#define KS_BIT_CAST
#endif
#endif
template <typename To, typename From> constexpr To bit_cast(const From &from) noexcept {
#ifdef KS_BIT_CAST
    return __builtin_bit_cast(To, from);
#else /* compilers of C++17 */
    return ks_bits<To>(from);
#endif
}

} // namespace std

#endif
