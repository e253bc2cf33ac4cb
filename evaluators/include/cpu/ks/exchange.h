/* What lanes show, which of them each shuffle reads, how wide masks are, and the sign that threads
 * disagreed. */
#ifndef KS_EXCHANGE_H
#define KS_EXCHANGE_H

/* What a lane shows to others: small integers as HIP promotes them, numbers of 16 bits and other
 * classes as they are. */
template <typename T, bool CLASS = __is_class(T)> struct KsShownOf { using type = T; };
template <typename T> struct KsShownOf<T, false> { using type = decltype(+T()); };
template <typename T> using KsShown = typename KsShownOf<T>::type;

KS_INLINE int ks_base(int t, int width) { return t & ~(width - 1); }

/* From the thread t of a block, as HIP defines it; width is a power of two up to WAVEFRONT. */
KS_INLINE int ks_source_shfl(int t, int lane, int width) {
    return ks_base(t, width) + (lane & (width - 1));
}
KS_INLINE int ks_source_shfl_up(int t, unsigned delta, int width) {
    int source = t - (int)delta;
    return source < ks_base(t, width) ? t : source;
}
KS_INLINE int ks_source_shfl_down(int t, unsigned delta, int width) {
    int within = (t & (width - 1)) + (int)delta;
    return within >= width ? t : t + (int)delta;
}
KS_INLINE int ks_source_shfl_xor(int t, int mask, int width) {
    int source = t ^ mask;
    return source >= ks_base(t, width) + width ? t : source;
}

/* Threads disagreed round the barrier at a line: reading this address tells the parent. */
#define KS_DIVERGED 0x1D1700000000ull

#define KS_NARROW                                                                                  \
    "the mask of a _sync operation has 32 bits, but wavefronts have 64 lanes here: write the "     \
    "operation without mask, as in __shfl_down(x, d, 32) or __ballot(p), or with a mask of 64 bits"
template <typename Mask> constexpr bool ks_wide = 8 * sizeof(Mask) >= WAVEFRONT;

#endif
