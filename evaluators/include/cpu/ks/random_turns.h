/* The oracle's turns: blocks, and the threads of a block, come in random orders.
 *
 * A kernel without data races gives the same in all of them, one that lacks a barrier or an atomic
 * operation does not. Nor does one whose atomic operations are right one by one only: others come
 * between them, see interrupts.h. */
#ifndef KS_RANDOM_TURNS_H
#define KS_RANDOM_TURNS_H

#include "sample.h"

enum { KS_SWITCH = 8 }; /* a fiber's turn takes as long as so many accesses, or longer */
enum { KS_TURNS_IN_A_ROW = 256 }; /* of a wavefront, before others come that it may wait for */

/* A wavefront's lanes in a random order, each until it waits or is interrupted; whether one was. */
KS_QUIET static bool ks_run_lanes(int first, int end) {
    const KsOrder order(WAVEFRONT);
    bool interrupted = false;
    for (int k = 0; k < WAVEFRONT; ++k) {
        const int t = first + (int)order[k];
        if (t >= end || ks_fibers[t].state != KS_READY) continue;
        ks_self = &ks_fibers[t];
        threadIdx = ks_self->index;
        asm volatile("" : "+m"(threadIdx) : : "memory");
        ks_accesses += KS_SWITCH;
        ks_switch(&ks_scheduler, ks_self->stack_pointer);
        interrupted |= ks_fibers[t].state == KS_READY;
    }
    return interrupted;
}

/* A wavefront to the block's next barrier, as far as it goes; whether it wants another go. The
 * others wait meanwhile: an operation of a wavefront orders its own lanes only. */
KS_QUIET static bool ks_run_wave(int first, unsigned long long seed) {
    const int whole = first + WAVEFRONT, end = whole < ks_threads ? whole : ks_threads;
    for (int t = end; t < whole && t < KS_MAX_THREADS; ++t) ks_lanes[t] = 0;
    for (int turn = 0; turn < KS_TURNS_IN_A_ROW; ++turn) {
        ks_random_state = seed + turn; /* the same lanes' orders, whichever wavefront is first */
        if (!ks_run_lanes(first, end)) {
            if (!ks_release_wave(first, end)) return false;
        } else if (ks_dice(2)) {
            return true;
        }
    }
    return true;
}

/* Run the block's fibers to their end. */
KS_QUIET static void ks_schedule() {
    for (;;) {
        const KsOrder order((unsigned)(ks_threads + WAVEFRONT - 1) / WAVEFRONT);
        const unsigned long long seed = ks_random();
        bool more = false;
        for (unsigned k = 0; k < order.count; ++k)
            more |= ks_run_wave((int)order[k] * WAVEFRONT, seed);
        ks_random_state = seed;
        if (!more && !ks_release_block()) return;
    }
}

#include "overlap.h"

KS_QUIET static void ks_start_block() {
    ks_block_number = ++ks_blocks_begun;
    ks_block_acquired = 0;
    __builtin_memset(ks_acquired, 0, sizeof ks_acquired);
}

/* Each block that there is to run is begun by a function. */
template <typename Begin> KS_QUIET static void ks_run_launch(const KsLaunch *launch, Begin begin) {
    ks_launch = launch;
    ks_accesses = 0;
    ks_first_block = ks_blocks_begun + 1;
    KsBlocks blocks;
    ks_run_blocks(blocks, begin);
    ks_end_launch();
}

#endif
