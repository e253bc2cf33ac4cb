/* From the parent's launch record to the calls of a kernel: included after the kernel's source. */
#ifndef KS_ENTRY_H
#define KS_ENTRY_H

#include "../../../cpu/native/launch.h"

template <size_t... I> struct KsSequence {};
template <size_t N, size_t... I> struct KsCount : KsCount<N - 1, N - 1, I...> {};
template <size_t... I> struct KsCount<0, I...> { using type = KsSequence<I...>; };

struct __half;
struct __hip_bfloat16;

/* How the parent names a parameter's type: see SIGNATURE in library.py. */
template <typename T> struct KsCode {
    static constexpr char value = __is_class(T) || __is_union(T) ? 'x'
                                  : sizeof(T) == 1               ? 'c'
                                  : sizeof(T) == 2               ? 's'
                                  : sizeof(T) == 4               ? 'i'
                                  : sizeof(T) == 8               ? 'l'
                                                                 : 'x';
};
template <typename T> struct KsCode<T *> { static constexpr char value = 'p'; };
template <typename T> struct KsCode<T &> { static constexpr char value = 'r'; };
template <> struct KsCode<bool> { static constexpr char value = 'b'; };
template <> struct KsCode<float> { static constexpr char value = 'f'; };
template <> struct KsCode<double> { static constexpr char value = 'd'; };
template <> struct KsCode<__half> { static constexpr char value = 'h'; };
template <> struct KsCode<__hip_bfloat16> { static constexpr char value = 'g'; };

/* Of each parameter the code; of a struct also its size and its alignment: x24a8. */
struct KsSignature {
    char codes[16 * KS_MAX_ARGS + 1];
    unsigned at;

    constexpr void number(unsigned long long value) {
        if (value >= 10) number(value / 10);
        codes[at++] = (char)('0' + value % 10);
    }
    template <typename T> constexpr void add() {
        codes[at++] = KsCode<T>::value;
        if (KsCode<T>::value == 'x') number(sizeof(T)), codes[at++] = 'a', number(alignof(T));
    }
};
template <typename... P> constexpr KsSignature ks_signature() {
    KsSignature made{};
    (made.add<P>(), ...);
    return made;
}

/* Arguments lie one after another, each from a word on. */
template <typename... P> constexpr size_t ks_word(size_t argument) {
    const size_t words[] = {(sizeof(P) + 7) / 8 ..., 0};
    size_t at = 0;
    for (size_t i = 0; i < argument; ++i) at += words[i];
    return at;
}

template <typename T> KS_INLINE T ks_argument(const KsLaunch *launch, size_t word) {
    T value;
    __builtin_memcpy((void *)&value, &launch->args[word], sizeof value);
    return value;
}

/* A variable in LDS between guards, which the parent fills, compares and hides; no code of ours
 * touches them. A zone is a multiple of every alignment, so nothing lies between them. */
template <typename T> struct KsZoned {
    unsigned char before[KS_ZONE];
    T value;
    unsigned char behind[KS_ZONE];
};
#ifdef KS_ORACLE /* which asks of every access whether it is one to LDS */
#define KS_WHOLE __attribute__((used)) /* clang would split it, and leave out its zones */
#else
#define KS_WHOLE
#endif
#define KS_DYNAMIC_LDS(bytes)                                                                      \
    alignas(4096) KS_WHOLE static KsZoned<unsigned char[bytes]> ks_lds_0_dynamic;
#define ks_dynamic_lds ks_lds_0_dynamic.value

/* Some words of each variable, others for each block, become other numbers: who relies on what
 * another block left computes something else, and can't see where; a fill would cost time. */
static void ks_change_some(const KsLaunch *launch) {
    static unsigned long long state;
    for (unsigned long long i = 0; i < launch->spans; ++i) {
        unsigned *words = (unsigned *)launch->lds[i].at;
        const unsigned long long count = launch->lds[i].bytes / 4;
        const unsigned long long changed = count < 512 ? count / 16 + (count > 0) : 32;
        const unsigned long long stride = changed ? count / changed : 0;
        state = state * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's, as MMIX has */
        for (unsigned long long at = (state >> 32) * stride >> 32; at < changed * stride; at += stride)
            words[at] ^= 1u << 22; /* by half of its power of two, as a float32 */
    }
}

/* Every block finds something else in LDS than what another one left there. Out of line and not
 * marked cold: either made a seed, timed, a tenth slower (g++ 12, softmax and transpose). It is no
 * thread's access: the oracle does not watch it. */
static __attribute__((noinline, no_sanitize("thread"))) void ks_poison_spans(const KsLaunch *launch) {
    if (launch->timed) return ks_change_some(launch);
    for (unsigned long long i = 0; i < launch->spans; ++i)
        __builtin_memset((void *)launch->lds[i].at, 0xFF, launch->lds[i].bytes);
}
KS_INLINE void ks_poison(const KsLaunch *launch) {
    if (launch->spans) ks_poison_spans(launch);
}

#ifdef __clang__
#define KS_EXPORT __attribute__((visibility("default"), used))
#else /* all else is static, by -fwhole-program */
#define KS_EXPORT __attribute__((visibility("default"), used, externally_visible))
#endif

template <auto kernel> struct KsKernel;
template <typename... P, void (*kernel)(P...)> struct KsKernel<kernel> {
    static_assert(ks_word<P...>(sizeof...(P)) <= KS_MAX_ARGS,
                  "a kernel takes at most 64 arguments, and 512 bytes of them");
    static constexpr KsSignature signature = ks_signature<P...>();

    /* All threads of all blocks of a launch, one after another. */
    template <unsigned X, unsigned Y, unsigned Z>
    KS_INLINE void run(const KsLaunch *launch) {
        gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]};
        call<X, Y, Z>(launch, typename KsCount<sizeof...(P)>::type());
    }

    template <unsigned X, unsigned Y, unsigned Z, size_t... I>
    KS_INLINE void call(const KsLaunch *launch, KsSequence<I...>) {
        blocks<X, Y, Z>(launch, ks_argument<P>(launch, ks_word<P...>(I))...);
    }

    template <unsigned X, unsigned Y, unsigned Z>
    KS_INLINE void blocks(const KsLaunch *launch, P... args) {
        const unsigned nx = launch->grid[0], ny = launch->grid[1], nz = launch->grid[2];
        for (unsigned bz = 0; bz < nz; ++bz)
            for (unsigned by = 0; by < ny; ++by)
                for (unsigned bx = 0; bx < nx; ++bx) {
                    ks_poison(launch);
                    blockIdx = {bx, by, bz};
                    for (unsigned tz = 0; tz < Z; ++tz)
                        for (unsigned ty = 0; ty < Y; ++ty)
                            for (unsigned tx = 0; tx < X; ++tx) {
                                threadIdx = {tx, ty, tz};
                                kernel(args...);
                            }
                }
    }
};

#endif
