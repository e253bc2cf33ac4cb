/* Which types are numbers: as much of <type_traits> as the prelude itself needs of every source. */
#ifndef KS_NUMBERS_H
#define KS_NUMBERS_H

template <bool, typename T = void> struct KsIf {};
template <typename T> struct KsIf<true, T> { using type = T; };
template <bool b, typename T> using KsOnlyIf = typename KsIf<b, T>::type;

template <typename, typename> inline constexpr bool ks_is_same = false;
template <typename T> inline constexpr bool ks_is_same<T, T> = true;

template <typename T> inline constexpr bool ks_is_whole = false;
template <> inline constexpr bool ks_is_whole<bool> = true;
template <> inline constexpr bool ks_is_whole<char> = true;
template <> inline constexpr bool ks_is_whole<signed char> = true;
template <> inline constexpr bool ks_is_whole<unsigned char> = true;
template <> inline constexpr bool ks_is_whole<short> = true;
template <> inline constexpr bool ks_is_whole<unsigned short> = true;
template <> inline constexpr bool ks_is_whole<int> = true;
template <> inline constexpr bool ks_is_whole<unsigned> = true;
template <> inline constexpr bool ks_is_whole<long> = true;
template <> inline constexpr bool ks_is_whole<unsigned long> = true;
template <> inline constexpr bool ks_is_whole<long long> = true;
template <> inline constexpr bool ks_is_whole<unsigned long long> = true;
template <typename T>
inline constexpr bool ks_is_number = ks_is_whole<T> || ks_is_same<T, float> || ks_is_same<T, double>;

#endif
