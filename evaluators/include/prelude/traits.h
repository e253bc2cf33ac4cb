/* What device code uses of <type_traits>. */
#ifndef KS_TRAITS_H
#define KS_TRAITS_H

namespace std {

template <typename T, T v> struct integral_constant {
    static constexpr T value = v;
    using value_type = T;
    using type = integral_constant;
    constexpr operator T() const { return v; }
    constexpr T operator()() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <typename T> struct type_identity { using type = T; };
template <typename T> using type_identity_t = typename type_identity<T>::type;
template <typename...> using void_t = void;

template <bool b, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { using type = T; };
template <bool b, typename T = void> using enable_if_t = typename enable_if<b, T>::type;
template <bool b, typename T, typename F> struct conditional { using type = T; };
template <typename T, typename F> struct conditional<false, T, F> { using type = F; };
template <bool b, typename T, typename F> using conditional_t = typename conditional<b, T, F>::type;

/* name<T>: a type; name_t<T> */
#define KS_TYPE_TRAIT(name)                                                                        \
    template <typename T> using name##_t = typename name<T>::type;
/* name<T>: whether condition holds, which may speak of T; name_v<T> */
#define KS_TRAIT(name, ...)                                                                        \
    template <typename T> struct name : bool_constant<(__VA_ARGS__)> {};                           \
    template <typename T> inline constexpr bool name##_v = (__VA_ARGS__);

template <typename T> struct remove_const : type_identity<T> {};
template <typename T> struct remove_const<const T> : type_identity<T> {};
template <typename T> struct remove_volatile : type_identity<T> {};
template <typename T> struct remove_volatile<volatile T> : type_identity<T> {};
template <typename T> struct remove_cv : remove_const<typename remove_volatile<T>::type> {};
template <typename T> struct remove_reference : type_identity<T> {};
template <typename T> struct remove_reference<T &> : type_identity<T> {};
template <typename T> struct remove_reference<T &&> : type_identity<T> {};
template <typename T> struct remove_cvref : remove_cv<typename remove_reference<T>::type> {};
template <typename T> struct remove_pointer : type_identity<T> {};
template <typename T> struct remove_pointer<T *> : type_identity<T> {};
template <typename T> struct remove_pointer<T *const> : type_identity<T> {};
template <typename T> struct remove_extent : type_identity<T> {};
template <typename T> struct remove_extent<T[]> : type_identity<T> {};
template <typename T, decltype(sizeof 0) n> struct remove_extent<T[n]> : type_identity<T> {};
template <typename T> struct remove_all_extents : type_identity<T> {};
template <typename T> struct remove_all_extents<T[]> : remove_all_extents<T> {};
template <typename T, decltype(sizeof 0) n>
struct remove_all_extents<T[n]> : remove_all_extents<T> {};
template <typename T> struct add_const { using type = const T; };
template <typename T> struct add_volatile { using type = volatile T; };
template <typename T> struct add_cv { using type = const volatile T; };
KS_TYPE_TRAIT(remove_const) KS_TYPE_TRAIT(remove_volatile) KS_TYPE_TRAIT(remove_cv)
KS_TYPE_TRAIT(remove_reference) KS_TYPE_TRAIT(remove_cvref) KS_TYPE_TRAIT(remove_pointer)
KS_TYPE_TRAIT(remove_extent) KS_TYPE_TRAIT(remove_all_extents)
KS_TYPE_TRAIT(add_const) KS_TYPE_TRAIT(add_volatile) KS_TYPE_TRAIT(add_cv)

template <typename T, typename = void> struct add_lvalue_reference : type_identity<T> {};
template <typename T> struct add_lvalue_reference<T, void_t<T &>> : type_identity<T &> {};
template <typename T, typename = void> struct add_rvalue_reference : type_identity<T> {};
template <typename T> struct add_rvalue_reference<T, void_t<T &&>> : type_identity<T &&> {};
template <typename T> struct add_pointer : type_identity<typename remove_reference<T>::type *> {};
KS_TYPE_TRAIT(add_lvalue_reference) KS_TYPE_TRAIT(add_rvalue_reference) KS_TYPE_TRAIT(add_pointer)
template <typename T> __device__ typename add_rvalue_reference<T>::type declval() noexcept;

template <typename T, typename U> inline constexpr bool is_same_v = false;
template <typename T> inline constexpr bool is_same_v<T, T> = true;
template <typename T, typename U> struct is_same : bool_constant<is_same_v<T, U>> {};

template <typename T, typename... Ts>
inline constexpr bool ks_is_one_of = (is_same_v<T, Ts> || ...);
KS_TRAIT(is_void, is_same_v<remove_cv_t<T>, void>)
KS_TRAIT(is_null_pointer, is_same_v<remove_cv_t<T>, decltype(nullptr)>)
KS_TRAIT(is_integral, ks_is_one_of<remove_cv_t<T>, bool, char, signed char, unsigned char, wchar_t,
                                   char16_t, char32_t, short, unsigned short, int, unsigned, long,
                                   unsigned long, long long, unsigned long long>)
KS_TRAIT(is_floating_point, ks_is_one_of<remove_cv_t<T>, float, double, long double>)
KS_TRAIT(is_arithmetic, is_integral_v<T> || is_floating_point_v<T>)
KS_TRAIT(is_const, !is_same_v<T, remove_const_t<T>>)
KS_TRAIT(is_volatile, !is_same_v<T, remove_volatile_t<T>>)
KS_TRAIT(is_reference, !is_same_v<T, remove_reference_t<T>>)
KS_TRAIT(is_pointer, !is_same_v<remove_cv_t<T>, remove_pointer_t<remove_cv_t<T>>>)
KS_TRAIT(is_array, !is_same_v<T, remove_extent_t<T>>)
KS_TRAIT(is_function, !is_const_v<const T> && !is_reference_v<T>)
KS_TRAIT(is_enum, __is_enum(T))
KS_TRAIT(is_class, __is_class(T))
KS_TRAIT(is_union, __is_union(T))
KS_TRAIT(is_empty, __is_empty(T))
KS_TRAIT(is_final, __is_final(T))
KS_TRAIT(is_trivial, __is_trivial(T))
KS_TRAIT(is_standard_layout, __is_standard_layout(T))
KS_TRAIT(is_trivially_copyable, __is_trivially_copyable(T))
KS_TRAIT(is_scalar, is_arithmetic_v<T> || is_enum_v<T> || is_pointer_v<T> || is_null_pointer_v<T>)
KS_TRAIT(is_fundamental, is_arithmetic_v<T> || is_void_v<T> || is_null_pointer_v<T>)
KS_TRAIT(is_object, !is_function_v<T> && !is_reference_v<T> && !is_void_v<T>)
template <typename T> inline constexpr bool is_lvalue_reference_v = false;
template <typename T> inline constexpr bool is_lvalue_reference_v<T &> = true;
template <typename T> struct is_lvalue_reference : bool_constant<is_lvalue_reference_v<T>> {};
KS_TRAIT(is_rvalue_reference, is_reference_v<T> && !is_lvalue_reference_v<T>)

template <typename T, bool = is_arithmetic_v<T>> inline constexpr bool ks_below_zero = false;
template <typename T> inline constexpr bool ks_below_zero<T, true> = T(-1) < T(0);
KS_TRAIT(is_signed, ks_below_zero<T>)
KS_TRAIT(is_unsigned, is_arithmetic_v<T> && !ks_below_zero<T>)

template <typename T> inline constexpr decltype(sizeof 0) rank_v = 0;
template <typename T> inline constexpr decltype(sizeof 0) rank_v<T[]> = 1 + rank_v<T>;
template <typename T, decltype(sizeof 0) n>
inline constexpr decltype(sizeof 0) rank_v<T[n]> = 1 + rank_v<T>;
template <typename T> struct rank : integral_constant<decltype(sizeof 0), rank_v<T>> {};
template <typename T, unsigned i = 0> inline constexpr decltype(sizeof 0) extent_v = 0;
template <typename T, decltype(sizeof 0) n>
inline constexpr decltype(sizeof 0) extent_v<T[n], 0> = n;
template <typename T, unsigned i, decltype(sizeof 0) n>
inline constexpr decltype(sizeof 0) extent_v<T[n], i> = extent_v<T, i - 1>;
template <typename T, unsigned i = 0>
struct extent : integral_constant<decltype(sizeof 0), extent_v<T, i>> {};
template <typename T> inline constexpr decltype(sizeof 0) alignment_of_v = alignof(T);
template <typename T> struct alignment_of : integral_constant<decltype(sizeof 0), alignof(T)> {};

template <typename B, typename D> inline constexpr bool is_base_of_v = __is_base_of(B, D);
template <typename B, typename D> struct is_base_of : bool_constant<is_base_of_v<B, D>> {};
template <typename T, typename... A>
inline constexpr bool is_constructible_v = __is_constructible(T, A...);
template <typename T, typename... A>
struct is_constructible : bool_constant<is_constructible_v<T, A...>> {};
KS_TRAIT(is_default_constructible, __is_constructible(T))
KS_TRAIT(is_copy_constructible, is_constructible_v<T, const T &>)
template <typename T, typename U> inline constexpr bool is_assignable_v = __is_assignable(T, U);
template <typename T, typename U> struct is_assignable : bool_constant<is_assignable_v<T, U>> {};

template <typename To> __device__ void ks_take(To) noexcept;
template <typename From, typename To, typename = void>
inline constexpr bool ks_converts = is_void_v<From> && is_void_v<To>;
template <typename From, typename To>
inline constexpr bool ks_converts<From, To, void_t<decltype(ks_take<To>(declval<From>()))>> = true;
template <typename From, typename To>
inline constexpr bool is_convertible_v = ks_converts<From, To>;
template <typename From, typename To>
struct is_convertible : bool_constant<is_convertible_v<From, To>> {};

template <typename T>
struct decay
    : conditional<is_array_v<remove_reference_t<T>>, remove_extent_t<remove_reference_t<T>> *,
                  typename conditional<is_function_v<remove_reference_t<T>>, add_pointer<T>,
                                       remove_cvref<T>>::type::type> {};
KS_TYPE_TRAIT(decay)

template <typename... T> struct common_type;
template <typename T> struct common_type<T> : decay<T> {};
template <typename T, typename U>
struct common_type<T, U> : decay<decltype(true ? declval<decay_t<T>>() : declval<decay_t<U>>())> {};
template <typename T, typename U, typename... More>
struct common_type<T, U, More...> : common_type<typename common_type<T, U>::type, More...> {};
template <typename... T> using common_type_t = typename common_type<T...>::type;

template <typename T> struct underlying_type { using type = __underlying_type(T); };
KS_TYPE_TRAIT(underlying_type)

template <typename T> struct ks_signs; /* both integers of a size */
#define KS_SIGNS(S, U)                                                                             \
    template <> struct ks_signs<S> { using plus = U; using minus = S; };                           \
    template <> struct ks_signs<U> { using plus = U; using minus = S; };
KS_SIGNS(signed char, unsigned char) KS_SIGNS(short, unsigned short) KS_SIGNS(int, unsigned)
KS_SIGNS(long, unsigned long) KS_SIGNS(long long, unsigned long long)
template <> struct ks_signs<char> : ks_signs<signed char> {};
template <typename T> struct make_unsigned { using type = typename ks_signs<T>::plus; };
template <typename T> struct make_signed { using type = typename ks_signs<T>::minus; };
KS_TYPE_TRAIT(make_unsigned) KS_TYPE_TRAIT(make_signed)

template <typename... B> struct conjunction : bool_constant<(bool(B::value) && ...)> {};
template <typename... B> struct disjunction : bool_constant<(bool(B::value) || ...)> {};
template <typename B> struct negation : bool_constant<!bool(B::value)> {};
template <typename... B> inline constexpr bool conjunction_v = conjunction<B...>::value;
template <typename... B> inline constexpr bool disjunction_v = disjunction<B...>::value;
template <typename B> inline constexpr bool negation_v = negation<B>::value;

template <typename, typename F, typename... A> struct ks_result {
    static constexpr bool value = false;
};
template <typename F, typename... A>
struct ks_result<void_t<decltype(declval<F>()(declval<A>()...))>, F, A...> {
    static constexpr bool value = true;
    using type = decltype(declval<F>()(declval<A>()...));
};
template <typename F, typename... A> struct invoke_result : ks_result<void, F, A...> {};
template <typename F, typename... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <typename F, typename... A>
inline constexpr bool is_invocable_v = ks_result<void, F, A...>::value;
template <typename F, typename... A>
struct is_invocable : bool_constant<is_invocable_v<F, A...>> {};

#undef KS_TYPE_TRAIT
#undef KS_TRAIT
#undef KS_SIGNS
} // namespace std

#endif
