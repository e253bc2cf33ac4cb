/* Who wrote each word last, and was that ordered with who uses it now? For the oracle only.
 *
 * Compiled with -fsanitize=thread, every access of a kernel calls a hook of access_hooks.h, which
 * ends here. The parent is told of a thread that reads what another one wrote with no barrier and
 * no atomic operation between, and of LDS that is read though nobody of the block wrote it. */
#ifndef KS_RACES_H
#define KS_RACES_H

/* Reading one of these addresses, plus where in the library the access stands, tells the parent. */
#define KS_LOST_UPDATE 0x1D1A00000000ull
#define KS_READS_LDS 0x1D1B00000000ull
#define KS_READS_OWN_BLOCK 0x1D1C00000000ull
#define KS_READS_OTHER_BLOCK 0x1D1D00000000ull
#define KS_READS_OTHER_LANE 0x1D1E00000000ull
#define KS_READS_SHARED_PLACE 0x1D1F00000000ull
#define KS_READS_UNWRITTEN_LDS 0x1D2000000000ull
#define KS_MISALIGNED 0x1D2100000000ull
#define KS_ENOUGH 0x1D2200000000ull
#define KS_READS_UNFENCED 0x1D2300000000ull
#define KS_WRITES_ANOTHER_VALUE 0x1D2400000000ull
#define KS_READS_DISPUTED 0x1D2500000000ull
#define KS_WRITES_BESIDE 0x1D2600000000ull
#define KS_READS_EARLY 0x1D2700000000ull

/* The last write of four bytes. Blocks count through all launches, so that old words are known. */
struct KsWord {
    unsigned long long place; /* the address over four */
    unsigned block, epoch, turn, time;
    unsigned reader_block;
    unsigned rival;                /* what another block wrote here, unordered with this write */
    unsigned short thread, reader; /* reader: who has read it since, unordered with the write */
    unsigned char bytes;           /* which of the four */
    unsigned char written;         /* which of them the block has written at all */
    bool atomic, contested;        /* contested: there is a rival */
};

enum { KS_WORDS = 1 << 19, KS_PROBES = 16, KS_PAGES = 1 << 12, KS_BLOCKS = 1 << 16 };
enum { KS_LDS_WORDS = 1 << 16 };
static KsWord ks_words[KS_WORDS];
static KsWord ks_all_lds_words[2][KS_LDS_WORDS]; /* those in LDS, each in a place of its own */
static KsWord *ks_lds_words; /* of the block that runs */
static const KsLaunch *ks_launch;         /* the present one, with the spans of LDS */
static unsigned ks_pages[KS_PAGES];    /* the last block that wrote to a page, by a hash of it */
static unsigned ks_released[KS_BLOCKS]; /* time of a block's last atomic operation or fence */
static unsigned ks_block_number, ks_first_block; /* of this launch */
static unsigned ks_blocks_begun;       /* by now: the last one's number */
static unsigned ks_time;               /* counts atomic operations and fences */
static unsigned ks_epoch;              /* counts the block's barriers */
static unsigned ks_turns[KS_MAX_THREADS / WAVEFRONT]; /* counts a wavefront's operations */
static unsigned ks_acquired[KS_MAX_THREADS];          /* time when a thread last saw another's */
static unsigned ks_block_acquired;
static unsigned long long ks_accesses; /* of this launch, and turns of fibers */

/* A change of what another thread wrote: it counts once the value in memory is another one. */
static struct {
    const unsigned char *address;
    unsigned long long old[2];
    size_t size;
    const char *code;
} ks_change;

#include "fences.h"

extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[], _end[];

KS_QUIET static __attribute__((noinline)) void ks_tell(unsigned long long what, const char *code) {
    (void)*(volatile char *)(what + (unsigned)(code - __ehdr_start));
}

KS_QUIET static inline void ks_copy(unsigned char *to, const unsigned char *from, size_t size) {
    for (size_t i = 0; i < size; ++i) ((volatile unsigned char *)to)[i] = from[i];
}

/* Has the change that was announced been one? */
KS_QUIET static void ks_settle() {
    if (!ks_change.address) return;
    unsigned long long now[2] = {};
    ks_copy((unsigned char *)now, ks_change.address, ks_change.size);
    ks_change.address = nullptr;
    if (now[0] != ks_change.old[0] || now[1] != ks_change.old[1])
        ks_tell(KS_LOST_UPDATE, ks_change.code);
}

/* Whether a place lies in LDS, and its word there; none where there are too many. Outside of
 * checks the parent does not say where LDS lies: any variable may be in it. */
KS_QUIET static inline bool ks_in_lds(unsigned long long place, KsWord **word = nullptr) {
    if (word) *word = nullptr;
    if (!ks_launch->lds)
        return place * 4 - (unsigned long long)__ehdr_start < (size_t)(_end - __ehdr_start);
    unsigned long long before = 0;
    for (unsigned long long i = 0; i < ks_launch->spans; ++i) {
        const unsigned long long count = (ks_launch->lds[i].bytes + 3) / 4;
        const unsigned long long at = place - ks_launch->lds[i].at / 4;
        if (at < count) {
            if (word) *word = before + at < KS_LDS_WORDS ? &ks_lds_words[before + at] : nullptr;
            return true;
        }
        before += count;
    }
    return false;
}

/* The word's place, or one that is free; none when the table is full there. */
KS_QUIET static inline KsWord *ks_word(unsigned long long place, bool add) {
    KsWord *own;
    if (ks_in_lds(place, &own) && own) return own;
    unsigned long long at = place * 0x9E3779B97F4A7C15ull >> 45;
    for (int i = 0; i < KS_PROBES; ++i) {
        KsWord *word = &ks_words[(at + i) % KS_WORDS];
        const bool old = word->block < ks_first_block;
        if (!old && word->place == place) return word;
        if (old) return add ? word : nullptr;
    }
    return nullptr;
}

KS_QUIET static inline bool ks_foreign(const KsWord *word, int thread) {
    return word->block != ks_block_number || word->thread != thread;
}

/* What is a thread's own: its stack, and what the fibers keep of it. */
KS_QUIET static inline bool ks_private(unsigned long long address) {
    return address - (unsigned long long)ks_all_stacks < sizeof ks_all_stacks ||
           address - (unsigned long long)ks_all_fibers < sizeof ks_all_fibers;
}

/* Whether another block made an atomic operation after a write, and this one saw it or another. */
KS_QUIET static bool ks_told_of(const KsWord *word) {
    return ks_released[word->block - ks_first_block] > word->time &&
           ks_block_acquired > word->time;
}

/* Whether a barrier, or atomic operations on both sides, stand between a write and this thread.
 * Other blocks need a fence, too. */
KS_QUIET static bool ks_ordered(const KsWord *word, int thread) {
    const unsigned writer = word->block - ks_first_block;
    if (writer >= KS_BLOCKS) return true;
    if (word->block != ks_block_number) /* each block has an LDS of its own */
        return (ks_told_of(word) && ks_was_fenced(word)) || ks_in_lds(word->place);
    if (word->epoch < ks_epoch) return true;
    const int wave = thread / WAVEFRONT;
    if (word->thread / WAVEFRONT == wave && word->turn < ks_turns[wave]) return true;
    return ks_released[writer] > word->time && ks_acquired[thread] > word->time;
}

KS_QUIET static unsigned long long ks_kind_of_read(const KsWord *word, int thread) {
    if (word->block != ks_block_number)
        return ks_told_of(word) ? KS_READS_UNFENCED : KS_READS_OTHER_BLOCK;
    if (!ks_in_lds(word->place)) return KS_READS_OWN_BLOCK;
    return word->thread / WAVEFRONT == thread / WAVEFRONT ? KS_READS_OTHER_LANE : KS_READS_LDS;
}

/* Call visit with each word of an access, and which of its bytes. */
template <typename Visit>
KS_QUIET static inline __attribute__((always_inline)) void
ks_each_word(unsigned long long address, size_t size, Visit visit) {
    const unsigned long long end = address + size;
    for (unsigned long long place = address / 4; place * 4 < end; ++place) {
        const int first = place * 4 < address ? (int)(address % 4) : 0;
        const int last = end < place * 4 + 4 ? (int)(end - place * 4) : 4;
        visit(place, (unsigned char)((1 << last) - (1 << first)));
    }
}

KS_QUIET static inline unsigned *ks_page(unsigned long long address) {
    return &ks_pages[address >> 12 & (KS_PAGES - 1)];
}

#include "disputes.h"
#include "early_reads.h"
#include "margins.h"

/* A sample of blocks ends after so many accesses; a block may wait for one that does not run. */
KS_QUIET static inline void ks_count(const char *code) {
    if (KS_SAMPLE && ++ks_accesses > 4 * KS_SAMPLE) ks_tell(KS_ENOUGH, code);
}

/* Has the block written a part of this access to LDS? Compilers read more than is asked for. */
KS_QUIET static bool ks_written(unsigned long long address, size_t size) {
    bool written = false;
    ks_each_word(address, size, [&](unsigned long long place, unsigned char bytes) KS_QUIET {
        KsWord *word = nullptr;
        written |= !ks_in_lds(place, &word) || !word ||
                   (word->block == ks_block_number && word->written & bytes);
    });
    return written;
}

KS_QUIET static void ks_reads(unsigned long long address, size_t size, const char *code) {
    ks_settle();
    if (ks_private(address)) return;
    ks_count(code);
    ks_be_patient(1);
    if (ks_in_lds(address / 4)) {
        if (!ks_written(address, size)) ks_tell(KS_READS_UNWRITTEN_LDS, code);
    } else if (ks_may_have_waited(ks_own_thread())) {
        ks_each_word(address, size, [&](unsigned long long place, unsigned char bytes) KS_QUIET {
            ks_note_read(place, bytes, code);
        });
    }
    if (ks_dispute_count)
        ks_each_word(address, size, [&](unsigned long long place, unsigned char bytes) KS_QUIET {
            if (ks_reads_luck(place, bytes)) ks_tell(KS_READS_DISPUTED, code);
        });
    if (*ks_page(address) < ks_first_block && *ks_page(address + size) < ks_first_block) return;
    const int thread = ks_own_thread();
    ks_each_word(address, size, [&](unsigned long long place, unsigned char bytes) KS_QUIET {
        KsWord *word = ks_word(place, false);
        if (!word || word->block < ks_first_block || !(word->bytes & bytes)) return;
        if (word->contested && word->block == ks_block_number && word->rival != ks_value(place))
            ks_tell(KS_READS_SHARED_PLACE, code);
        if (!ks_foreign(word, thread) || ks_ordered(word, thread)) return;
        if (!word->atomic) ks_tell(ks_kind_of_read(word, thread), code);
        word->reader = (unsigned short)thread;
        word->reader_block = ks_block_number;
    });
}

/* A write becomes its word's last one. What another block of the launch wrote there, unordered,
 * is kept as its rival: the two blocks might as well have come in turns. */
KS_QUIET static inline void ks_record(KsWord *word, unsigned long long place, unsigned char bytes,
                                      int thread) {
    const KsWord last = *word;
    const bool own = last.block == ks_block_number;
    const bool rival = !own && last.block >= ks_first_block && last.bytes & bytes &&
                       !last.atomic && !ks_ordered(&last, thread);
    *word = {place, ks_block_number, ks_epoch, ks_turns[thread / WAVEFRONT], ks_time, 0,
             rival ? ks_value(place) : last.rival, (unsigned short)thread, 0, bytes,
             (unsigned char)(own ? last.written | bytes : bytes), false,
             rival || (own && last.contested)};
}

KS_QUIET static void ks_writes(unsigned long long address, size_t size, const char *code) {
    ks_settle();
    if (ks_private(address)) return;
    ks_count(code);
    ks_check_inside(address, size, code);
    *ks_page(address) = *ks_page(address + size) = ks_block_number;
    const int thread = ks_own_thread();
    bool lost = false;
    ks_each_word(address, size, [&](unsigned long long place, unsigned char bytes) KS_QUIET {
        KsWord *word = ks_word(place, true);
        if (!word) return;
        if (word->block >= ks_first_block && word->bytes & bytes && ks_foreign(word, thread))
            lost |= word->reader == thread && word->reader_block == ks_block_number &&
                    !ks_ordered(word, thread);
        ks_check_early_reads(place, bytes);
        ks_dispute(word, place, bytes, size, thread, code);
        ks_record(word, place, bytes, thread);
    });
    if (!lost) return;
    ks_change.address = (const unsigned char *)address;
    ks_change.size = size < 16 ? size : 16;
    ks_change.code = code;
    ks_change.old[0] = ks_change.old[1] = 0;
    ks_copy((unsigned char *)ks_change.old, ks_change.address, ks_change.size);
}

/* What a thread did before is released, to those that see this in their turn. */
KS_QUIET static __attribute__((noinline)) void ks_release() {
    ++ks_time;
    if (ks_block_number - ks_first_block < KS_BLOCKS)
        ks_released[ks_block_number - ks_first_block] = ks_time;
}

/* A fence that other blocks may rely on. */
KS_QUIET static __attribute__((noinline)) void ks_fence() {
    ks_release();
    ks_note_fence(ks_own_thread());
}

/* An atomic operation: it sees what its forerunners on the same word released. reads: whether what
 * was there counts. Returns whether an exchange finds LDS that nobody of the block has written: it
 * may hold what another block left there, even the very value that is put in its place. */
KS_QUIET static __attribute__((noinline)) bool ks_touches(const volatile void *at, bool reads,
                                                          const char *code) {
    ks_settle();
    const unsigned long long address = (unsigned long long)at;
    ks_interrupt(!ks_in_lds(address / 4));
    const int thread = ks_own_thread();
    ks_count(code);
    const bool unwritten = ks_in_lds(address / 4) && !ks_written(address, 4);
    if (reads && unwritten) ks_tell(KS_READS_UNWRITTEN_LDS, code);
    ks_check_inside(address, 4, code);
    ks_release();
    ks_note_atomic(thread);
    *ks_page(address) = ks_block_number;
    KsWord *word = ks_word(address / 4, true);
    if (!word) return false; /* too many: nothing is known of it */
    if (word->block >= ks_first_block && ks_foreign(word, thread))
        ks_acquired[thread] = ks_block_acquired = ks_time;
    if (word->block == ks_block_number && word->thread != thread) ks_fences.seen[thread] = ks_time;
    *word = {address / 4, ks_block_number, ks_epoch, ks_turns[thread / WAVEFRONT], ks_time - 1, 0,
             0, (unsigned short)thread, 0, 15, 15, true, false};
    return unwritten && !reads;
}

#endif
