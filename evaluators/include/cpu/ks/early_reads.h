/* Reads of what another block of the launch writes later, with nothing that orders the two.
 *
 * Blocks come in both orders, so a read that comes always is seen behind the write. One that comes
 * only where its block has given up waiting is not: it is noted here, with the last reader's block
 * for each place. Who waits makes atomic operations, or meets in a barrier who does. */
#ifndef KS_EARLY_READS_H
#define KS_EARLY_READS_H

struct KsEarlyRead {
    unsigned long long place; /* the address over four */
    const char *code;
    unsigned block, time;
    unsigned char bytes; /* which of the four */
};

enum { KS_EARLY_READS = 1 << 14 };
static KsEarlyRead ks_early_reads[KS_EARLY_READS];
static unsigned ks_early_block; /* the last one that made such a read */

KS_QUIET static inline KsEarlyRead *ks_early_read(unsigned long long place) {
    return &ks_early_reads[place * 0x9E3779B97F4A7C15ull >> 50];
}

/* Whether a thread may have waited for another block: by itself, or behind a barrier. */
KS_QUIET static inline bool ks_may_have_waited(int thread) {
    const int wave = thread / WAVEFRONT;
    return ks_atomics && (ks_self->atomics || ks_fences.atomic_epoch < ks_epoch ||
                          ks_fences.atomic_turn[wave] < ks_turns[wave]);
}

KS_QUIET static void ks_note_read(unsigned long long place, unsigned char bytes, const char *code) {
    KsEarlyRead *read = ks_early_read(place);
    const bool again = read->place == place && read->block == ks_block_number;
    *read = {place, code, ks_block_number, ks_time,
             (unsigned char)(again ? read->bytes | bytes : bytes)};
    ks_early_block = ks_block_number;
}

/* Has another block read what this one writes now? */
KS_QUIET static void ks_check_early_reads(unsigned long long place, unsigned char bytes) {
    if (ks_early_block < ks_first_block) return;
    const KsEarlyRead *read = ks_early_read(place);
    if (read->place != place || read->block < ks_first_block || read->block == ks_block_number ||
        !(read->bytes & bytes))
        return;
    const unsigned reader = read->block - ks_first_block;
    const bool ordered = reader >= KS_BLOCKS ||
                         (ks_released[reader] > read->time && ks_block_acquired > read->time);
    if (!ordered) ks_tell(KS_READS_EARLY, read->code);
}

#endif
