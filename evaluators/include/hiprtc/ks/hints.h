/* CUDA's loads and stores with hints for caches: what is used once is marked as not to be kept. */
#ifndef KS_HINTS_H
#define KS_HINTS_H

template <typename T, typename Word, unsigned count> struct KsWords {
    static constexpr bool fits = sizeof(T) == count * sizeof(Word) && alignof(T) == sizeof(T);
    typedef Word Words __attribute__((ext_vector_type(count)));
};
template <typename T, typename Word> struct KsWords<T, Word, 1> {
    static constexpr bool fits = sizeof(T) == sizeof(Word) && alignof(T) == sizeof(T);
    typedef Word Words;
};
/* In one access: what the instructions know, 1 to 16 bytes. */
template <typename T> constexpr auto ks_hinted() {
    if constexpr (KsWords<T, unsigned, 4>::fits) return KsWords<T, unsigned, 4>();
    else if constexpr (KsWords<T, unsigned, 2>::fits) return KsWords<T, unsigned, 2>();
    else if constexpr (KsWords<T, unsigned, 1>::fits) return KsWords<T, unsigned, 1>();
    else if constexpr (KsWords<T, unsigned short, 1>::fits) return KsWords<T, unsigned short, 1>();
    else return KsWords<T, unsigned char, 1>();
}
template <typename T> using KsHinted = decltype(ks_hinted<T>());
template <typename T> KS_INLINE T ks_load_once(const T *p) {
    if constexpr (!KsHinted<T>::fits) return *p;
    else
        return ks_bits<T>(
            __builtin_nontemporal_load((const typename KsHinted<T>::Words *)p));
}
template <typename T> KS_INLINE void ks_store_once(T *p, const T &value) {
    if constexpr (!KsHinted<T>::fits) *p = value;
    else
        __builtin_nontemporal_store(ks_bits<typename KsHinted<T>::Words>(value),
                                    (typename KsHinted<T>::Words *)p);
}
/* Anew at each call. */
template <typename T> KS_INLINE T ks_load_again(const T *p) {
    if constexpr (!KsHinted<T>::fits) return *p;
    else return ks_bits<T>(*(const volatile typename KsHinted<T>::Words *)p);
}

template <typename T> KS_INLINE T __ldg(const T *p) { return *p; }
template <typename T> KS_INLINE T __ldca(const T *p) { return *p; }
template <typename T> KS_INLINE T __ldcg(const T *p) { return *p; }
template <typename T> KS_INLINE T __ldcs(const T *p) { return ks_load_once(p); }
template <typename T> KS_INLINE T __ldlu(const T *p) { return ks_load_once(p); }
template <typename T> KS_INLINE T __ldcv(const T *p) { return ks_load_again(p); }
template <typename T> KS_INLINE void __stwb(T *p, KsExactly<T> value) { *p = value; }
template <typename T> KS_INLINE void __stcg(T *p, KsExactly<T> value) { *p = value; }
template <typename T> KS_INLINE void __stwt(T *p, KsExactly<T> value) { *p = value; }
template <typename T> KS_INLINE void __stcs(T *p, KsExactly<T> value) {
    ks_store_once(p, value);
}

#endif
