/* Wavefront operations between fibers: a lane shows a value, meets the others and looks at theirs. */
#ifndef KS_FIBER_EXCHANGE_H
#define KS_FIBER_EXCHANGE_H

/* Show a value to the wavefront, and meet its other lanes. */
template <typename T>
KS_QUIET static __attribute__((noinline)) void ks_show(T value, int site, int line, KsMask mask) {
    static_assert(sizeof(T) <= 8, "lanes exchange values of at most 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof value);
    ks_self->shown = bits;
    ks_meet(site, line, mask);
}
template <typename T> KS_INLINE T ks_seen(int thread) {
    T value;
    __builtin_memcpy(&value, &ks_lanes[thread], sizeof value);
    return value;
}

#define KS_SHUFFLE(name, Operand)                                                                  \
    template <typename T>                                                                          \
    static auto ks_fiber##name(int site, int line, KsMask mask, T value, Operand operand,          \
                               int width = WAVEFRONT) {                                            \
        using Shown = KsShown<T>;                                                            \
        ks_show<Shown>(value, site, line, mask);                                                   \
        return ks_seen<Shown>(ks_source##name(ks_own_thread(), operand, width));                   \
    }
KS_SHUFFLE(_shfl, int)
KS_SHUFFLE(_shfl_up, unsigned)
KS_SHUFFLE(_shfl_down, unsigned)
KS_SHUFFLE(_shfl_xor, int)
#define __shfl(...) ks_fiber_shfl(__COUNTER__, __LINE__, KsMask{}, __VA_ARGS__)
#define __shfl_up(...) ks_fiber_shfl_up(__COUNTER__, __LINE__, KsMask{}, __VA_ARGS__)
#define __shfl_down(...) ks_fiber_shfl_down(__COUNTER__, __LINE__, KsMask{}, __VA_ARGS__)
#define __shfl_xor(...) ks_fiber_shfl_xor(__COUNTER__, __LINE__, KsMask{}, __VA_ARGS__)
#define __shfl_sync(mask, ...)                                                          \
    ks_fiber_shfl(__COUNTER__, __LINE__, KS_MASK(mask), __VA_ARGS__)
#define __shfl_up_sync(mask, ...)                                                          \
    ks_fiber_shfl_up(__COUNTER__, __LINE__, KS_MASK(mask), __VA_ARGS__)
#define __shfl_down_sync(mask, ...)                                                          \
    ks_fiber_shfl_down(__COUNTER__, __LINE__, KS_MASK(mask), __VA_ARGS__)
#define __shfl_xor_sync(mask, ...)                                                          \
    ks_fiber_shfl_xor(__COUNTER__, __LINE__, KS_MASK(mask), __VA_ARGS__)

KS_QUIET static __attribute__((noinline)) unsigned long long ks_ballot_of(bool vote, int site, int line,
                                                                  KsMask mask = {}) {
    ks_show<unsigned long long>(vote, site, line, mask);
    int first = ks_own_thread() / WAVEFRONT * WAVEFRONT;
    unsigned long long votes = 0;
    for (int lane = 0; lane < WAVEFRONT; ++lane) votes |= (ks_lanes[first + lane] & 1) << lane;
    return votes;
}
#define __ballot(vote) ks_ballot_of(vote, __COUNTER__, __LINE__)
#define __any(vote) int(ks_ballot_of(vote, __COUNTER__, __LINE__) != 0)
#define __all(vote) int(ks_ballot_of(!(vote), __COUNTER__, __LINE__) == 0)
#define __activemask() ks_ballot_of(true, __COUNTER__, __LINE__)
#define __ballot_sync(mask, vote) ks_ballot_of(vote, __COUNTER__, __LINE__, KS_MASK(mask))
#define __any_sync(mask, vote) int(__ballot_sync(mask, vote) != 0)
#define __all_sync(mask, vote) int(__ballot_sync(mask, !(vote)) == 0)

#endif
