/* What translated kernels call: storage of threads, votes, shuffles, the launch of a block. */
#ifndef KS_FISSION_H
#define KS_FISSION_H

#include "entry.h"
#include "masks.h"
#include "memory.h"

template <typename T> struct KsBareOf { using type = T; };
template <typename T> struct KsBareOf<const T> { using type = T; };
template <typename T> struct KsBareOf<T &> : KsBareOf<T> {};
template <typename T> struct KsBareOf<T &&> : KsBareOf<T> {};
template <typename T, size_t N> struct KsBareOf<const T[N]> {
    using type = typename KsBareOf<T>::type[N];
};
/* A type without const and references at its top. */
template <typename T> using KsBare = typename KsBareOf<T>::type;

template <typename T> struct KsDecayOf { using type = KsBare<T>; };
template <typename T, size_t N> struct KsDecayOf<T[N]> { using type = T *; };
template <typename T> struct KsDecayOf<T &> : KsDecayOf<T> {};
template <typename T> struct KsDecayOf<T &&> : KsDecayOf<T> {};
/* The type of auto x = ...; */
template <typename T> using KsDecay = typename KsDecayOf<T>::type;
template <typename T> struct KsPointeeOf;
template <typename T> struct KsPointeeOf<T *> { using type = KsBare<T>; };
template <typename T> using KsPointee = typename KsPointeeOf<KsDecay<T>>::type;
template <typename T> using KsOperand = KsShown<KsDecay<T>>;

/* A class that has no value before it is given one, for a variable that gets it later. */
template <typename T> struct KsLate : T {
    KsLate() : T(*(const T *)this) {}
};
template <typename T, bool MAKES = __is_constructible(T)> struct KsMadeOf { using type = T; };
template <typename T> struct KsMadeOf<T, false> { using type = KsLate<T>; };
/* A type like T of which variables and arrays can be declared without a value. */
template <typename T> using KsMade = typename KsMadeOf<T>::type;

/* int i = a + b; and so on, where the sum of unsigned operands could wrap for all that a compiler
 * knows: the same bits, but it may follow i from thread to thread. */
template <typename T> struct KsWord32 { static constexpr bool value = false; };
template <> struct KsWord32<int> { static constexpr bool value = true; };
template <> struct KsWord32<unsigned> { static constexpr bool value = true; };
#define KS_AS_INT(name, sign)                                                                      \
    template <typename A, typename B> KS_INLINE constexpr auto name(const A &a, const B &b) {      \
        if constexpr (KsWord32<A>::value && KsWord32<B>::value)                                    \
            return int(a) sign int(b);                                                             \
        else                                                                                       \
            return a sign b;                                                                       \
    }
KS_AS_INT(ks_plus, +)
KS_AS_INT(ks_minus, -)
KS_AS_INT(ks_times, *)

/* One block of a launch. */
struct KsBlock {
    KsIndex block, grid;
    unsigned char *lds;
};

/* The indices that a device function sees. */
struct KsThread {
    KsIndex thread, block, dim, grid;
};

template <typename T, typename U> KS_INLINE void ks_assign(T &to, const U &from) {
    static_assert(sizeof(T) == sizeof(U), "the same bytes");
    __builtin_memcpy((void *)&to, &from, sizeof(T));
}

template <size_t N> KS_INLINE void ks_clear_tail(unsigned char (&slot)[N]) {
    __builtin_memset(slot, 0, N);
}

template <typename T> KS_INLINE void ks_put(unsigned char *slot, int t, T value) {
    using Operand = KsShown<T>;
    static_assert(sizeof(Operand) <= 8, "lanes exchange values of at most 8 bytes");
    ((Operand *)slot)[t] = value;
}
KS_INLINE void ks_put(bool *slot, int t, bool value) { slot[t] = value; }
KS_INLINE void ks_put(KsMask *slot, int t, KsMask value) { slot[t] = value; }

/* A lane that is off or not there shows zero. */
#define KS_SHUFFLE(name, Operand)                                                                  \
    template <typename T>                                                                          \
    KS_INLINE T ks##name(const unsigned char *slot, int t, Operand operand, int width) {           \
        return ((const T *)slot)[ks_source##name(t, operand, width)];                              \
    }
KS_SHUFFLE(_shfl, int)
KS_SHUFFLE(_shfl_up, unsigned)
KS_SHUFFLE(_shfl_down, unsigned)
KS_SHUFFLE(_shfl_xor, int)

template <int LANES> KS_INLINE void ks_ballot(const bool *slot, unsigned long long *votes) {
    for (int w = 0; w < LANES / WAVEFRONT; ++w) {
        unsigned long long mask = 0;
        for (int lane = 0; lane < WAVEFRONT; ++lane)
            mask |= (unsigned long long)slot[w * WAVEFRONT + lane] << lane;
        votes[w] = mask;
    }
}

template <int LANES> KS_INLINE void ks_check_waves(const KsMask *slot, int line) {
    for (int first = 0; first < LANES; first += WAVEFRONT) ks_check_masks(slot + first, line);
}

template <int THREADS> KS_INLINE int ks_count(const bool *slot) {
    int count = 0;
    for (int t = 0; t < THREADS; ++t) count += slot[t];
    return count;
}

/* Whether any thread is on. */
template <size_t N> KS_INLINE bool ks_some(const unsigned char (&mask)[N]) {
    unsigned char some = 0;
    for (size_t t = 0; t < N; ++t) some |= mask[t];
    return some;
}

/* Whether either all threads are on, but those that have left the kernel, or none. */
template <int THREADS> KS_INLINE bool ks_together(const unsigned char *mask, const unsigned char *live) {
    unsigned char on = 0, off = 0;
    for (int t = 0; t < THREADS; ++t) {
        on |= mask[t];
        off |= !mask[t] & (live ? live[t] : 1);
    }
    return !(on & off);
}

template <int THREADS> KS_INLINE long long ks_first(const long long *values, const unsigned char *mask) {
    for (int t = 0; t < THREADS; ++t)
        if (!mask || mask[t]) return values[t];
    return 0;
}
template <int THREADS> KS_INLINE bool ks_same(const long long *values, const unsigned char *mask) {
    long long first = ks_first<THREADS>(values, mask);
    for (int t = 0; t < THREADS; ++t)
        if ((!mask || mask[t]) && values[t] != first) return false;
    return true;
}

KS_INLINE int ks_rank(const KsIndex &thread, const KsIndex &dim) {
    return (int)((thread.z * dim.y + thread.y) * dim.x + thread.x);
}
KS_INLINE int ks_lane(const KsIndex &thread, const KsIndex &dim) {
    return ks_rank(thread, dim) % WAVEFRONT;
}

template <auto block> struct KsFission;
template <typename... P, int (*block)(const KsBlock &, P...)> struct KsFission<block> {
    static_assert(ks_word<P...>(sizeof...(P)) <= KS_MAX_ARGS,
                  "a kernel takes at most 64 arguments, and 512 bytes of them");
    static constexpr KsSignature signature = ks_signature<P...>();

    KS_INLINE void run(const KsLaunch *launch, unsigned char *lds) {
        call(launch, lds, typename KsCount<sizeof...(P)>::type());
    }

    template <size_t... I>
    KS_INLINE void call(const KsLaunch *launch, unsigned char *lds, KsSequence<I...>) {
        blocks(launch, lds, ks_argument<P>(launch, ks_word<P...>(I))...);
    }

    KS_INLINE void blocks(const KsLaunch *launch, unsigned char *lds, P... args) {
        const KsIndex grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
        for (unsigned z = 0; z < grid.z; ++z)
            for (unsigned y = 0; y < grid.y; ++y)
                for (unsigned x = 0; x < grid.x; ++x) {
                    ks_poison(launch);
                    int line = block(KsBlock{{x, y, z}, grid, lds}, args...);
                    if (line) (void)*(volatile char *)(KS_DIVERGED + (unsigned)line);
                }
    }
};

#endif
