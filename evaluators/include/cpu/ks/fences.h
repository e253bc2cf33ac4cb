/* What a block's fences, and the atomic operations behind them, let other blocks rely on.
 *
 * A fence of the device covers what is ordered before it: its thread's writes, those of its
 * wavefront before the last operation of that, and those of its block before the last barrier. An
 * atomic operation announces the fences that are ordered before it in the same way. All counts
 * only grow, so that what is left of an earlier block covers nothing of a later one. */
#ifndef KS_FENCES_H
#define KS_FENCES_H

/* A thread's writes before any of these: by its own time, by its wavefront's turn, by its block's
 * epoch (see KsWord); and any thread's of the block before a time that it has seen. */
struct KsReach {
    unsigned time, turn, epoch, seen;
};

enum { KS_REACHES = 1 << 16 }; /* of the blocks that run later, atomic operations suffice */
static KsReach ks_fenced[KS_MAX_THREADS]; /* by each thread's last fence */
static unsigned ks_seen_time[KS_MAX_THREADS]; /* when it last saw its own block's atomics */
static unsigned ks_atomic_turn[KS_MAX_THREADS / WAVEFRONT]; /* of its last atomic operation */
static unsigned ks_atomic_epoch;                            /* the block's */
static unsigned ks_announced_time[KS_MAX_THREADS], ks_announced_turn[KS_MAX_THREADS / WAVEFRONT];
static unsigned ks_announced_epoch, ks_announced_seen;
static KsReach ks_announced[KS_REACHES]; /* by threads of the launch's blocks that are through */

KS_QUIET static inline void ks_raise(unsigned &limit, unsigned to) {
    if (limit < to) limit = to;
}

/* What a thread's last fence covers is announced. */
KS_QUIET static void ks_announce(int thread) {
    const KsReach &fenced = ks_fenced[thread];
    ks_raise(ks_announced_time[thread], fenced.time);
    ks_raise(ks_announced_turn[thread / WAVEFRONT], fenced.turn);
    ks_raise(ks_announced_epoch, fenced.epoch);
    ks_raise(ks_announced_seen, fenced.seen);
}

/* If another thread has made an atomic operation since, ordered behind the fence. */
KS_QUIET static void ks_announce_by_others(int thread) {
    const KsReach &fenced = ks_fenced[thread];
    if (ks_atomic_turn[thread / WAVEFRONT] > fenced.turn || ks_atomic_epoch > fenced.epoch)
        ks_announce(thread);
}

/* A fence of the device, at a time of its own. */
KS_QUIET static void ks_note_fence(int thread) {
    ks_announce_by_others(thread);
    ks_fenced[thread] = {ks_time, ks_turns[thread / WAVEFRONT], ks_epoch, ks_seen_time[thread]};
}

KS_QUIET static void ks_note_atomic(int thread) {
    ks_announce(thread);
    ks_atomic_turn[thread / WAVEFRONT] = ks_turns[thread / WAVEFRONT];
    ks_atomic_epoch = ks_epoch;
}

/* The present block is through, if it is one of this launch: keep what it has announced. */
KS_QUIET static void ks_end_block() {
    if (ks_block_number < ks_first_block) return;
    for (int t = 0; t < ks_threads; ++t) ks_announce_by_others(t);
    const unsigned long long first = 1ull * (ks_block_number - ks_first_block) * ks_threads;
    for (int t = 0; t < ks_threads && first + t < KS_REACHES; ++t)
        ks_announced[first + t] = {ks_announced_time[t], ks_announced_turn[t / WAVEFRONT],
                                   ks_announced_epoch, ks_announced_seen};
}

/* Whether a write of a block of this launch that is through was announced behind a fence. */
KS_QUIET static bool ks_was_fenced(const KsWord *word) {
    const unsigned long long at =
        1ull * (word->block - ks_first_block) * ks_threads + word->thread;
    if (at >= KS_REACHES) return true;
    const KsReach &reach = ks_announced[at];
    return word->time < reach.time || word->turn < reach.turn || word->epoch < reach.epoch ||
           word->time < reach.seen;
}

#endif
