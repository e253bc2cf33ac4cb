/* The masks of _sync operations: compared with the lanes that take part, as HIP 7 does. */
#ifndef KS_MASKS_H
#define KS_MASKS_H

#include "exchange.h"

/* A mask names a lane that does not take part with it, or lacks one that does: reading this
 * address, the lane's number above the line's 24 bits, tells the parent. */
#define KS_MASK_NAMES 0x1D1800000000ull
#define KS_MASK_LACKS 0x1D1900000000ull

/* What a lane passes to a _sync operation; given is false for a lane that is off. */
struct KsMask {
    unsigned long long lanes;
    bool given;
};
KS_INLINE KsMask ks_mask(unsigned long long lanes) {
    return {lanes & (~0ull >> (64 - WAVEFRONT)), true};
}

/* As HIP 7 checks it before it traps: a mask names all lanes that pass it, and no others. */
KS_QUIET static __attribute__((noinline)) void ks_check_masks(const KsMask *masks, int line) {
    unsigned long long left = 0;
    for (int lane = 0; lane < WAVEFRONT; ++lane)
        left |= (unsigned long long)masks[lane].given << lane;
    while (left) {
        const unsigned long long named = masks[__builtin_ctzll(left)].lanes;
        unsigned long long same = 0;
        for (int lane = 0; lane < WAVEFRONT; ++lane)
            same |= (unsigned long long)(masks[lane].lanes == named) << lane;
        same &= left;
        if (named != same) {
            const unsigned long long wrong = named & ~same ? named & ~same : same & ~named;
            const unsigned long long sign = named & ~same ? KS_MASK_NAMES : KS_MASK_LACKS;
            const unsigned long long lane = __builtin_ctzll(wrong);
            (void)*(volatile char *)(sign + (lane << 24) + (unsigned)line);
        }
        left &= ~same;
    }
}

#endif
