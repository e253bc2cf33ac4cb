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

/* A block's fences, and what they announce. */
struct KsFences {
    KsReach last[KS_MAX_THREADS];  /* each thread's */
    unsigned seen[KS_MAX_THREADS]; /* when a thread last saw its own block's atomic operations */
    unsigned atomic_turn[KS_MAX_THREADS / WAVEFRONT]; /* of its last atomic operation */
    unsigned atomic_epoch;                            /* of the block's */
    unsigned time[KS_MAX_THREADS], turn[KS_MAX_THREADS / WAVEFRONT]; /* announced, as a KsReach */
    unsigned epoch, seen_time;
};

enum { KS_REACHES = 1 << 16 }; /* of the blocks that run later, atomic operations suffice */
static KsFences ks_fences;               /* of the block that runs */
static KsReach ks_announced[KS_REACHES]; /* by threads of the launch's blocks that don't run */

KS_QUIET static inline void ks_raise(unsigned &limit, unsigned to) {
    if (limit < to) limit = to;
}

/* What a thread's last fence covers is announced. */
KS_QUIET static void ks_announce(int thread) {
    const KsReach &last = ks_fences.last[thread];
    ks_raise(ks_fences.time[thread], last.time);
    ks_raise(ks_fences.turn[thread / WAVEFRONT], last.turn);
    ks_raise(ks_fences.epoch, last.epoch);
    ks_raise(ks_fences.seen_time, last.seen);
}

/* If another thread has made an atomic operation since, ordered behind the fence. */
KS_QUIET static void ks_announce_by_others(int thread) {
    const KsReach &last = ks_fences.last[thread];
    if (ks_fences.atomic_turn[thread / WAVEFRONT] > last.turn || ks_fences.atomic_epoch > last.epoch)
        ks_announce(thread);
}

/* A fence of the device, at a time of its own. */
KS_QUIET static void ks_note_fence(int thread) {
    ks_announce_by_others(thread);
    ks_fences.last[thread] = {ks_time, ks_turns[thread / WAVEFRONT], ks_epoch,
                              ks_fences.seen[thread]};
}

KS_QUIET static void ks_note_atomic(int thread) {
    ks_announce(thread);
    ks_fences.atomic_turn[thread / WAVEFRONT] = ks_turns[thread / WAVEFRONT];
    ks_fences.atomic_epoch = ks_epoch;
}

/* The block is through or suspended: keep what it has announced by now. */
KS_QUIET static void ks_keep_announced() {
    for (int t = 0; t < ks_threads; ++t) ks_announce_by_others(t);
    const unsigned long long first = 1ull * (ks_block_number - ks_first_block) * ks_threads;
    for (int t = 0; t < ks_threads && first + t < KS_REACHES; ++t)
        ks_announced[first + t] = {ks_fences.time[t], ks_fences.turn[t / WAVEFRONT],
                                   ks_fences.epoch, ks_fences.seen_time};
}

/* Whether a write of a block of this launch was announced behind a fence. */
KS_QUIET static bool ks_was_fenced(const KsWord *word) {
    const unsigned long long at =
        1ull * (word->block - ks_first_block) * ks_threads + word->thread;
    if (at >= KS_REACHES) return true;
    const KsReach &reach = ks_announced[at];
    return word->time < reach.time || word->turn < reach.turn || word->epoch < reach.epoch ||
           word->time < reach.seen;
}

#endif
