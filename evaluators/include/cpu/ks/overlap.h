/* Two blocks of a launch in turns: one may be suspended in the midst of its work. */
#ifndef KS_OVERLAP_H
#define KS_OVERLAP_H

enum { KS_OVERLAP_LDS = 64 << 10 };

alignas(64) static unsigned char ks_scheduler_stacks[2][KS_STACK];
static bool ks_place; /* which of two such memories the block that runs has */

/* What is a block's own, of the block that does not run. */
static struct {
    KsIndex index;
    KsFiber *self;
    void *scheduler, *at;
    int votes;
    unsigned long long random_state, lanes[KS_MAX_THREADS];
    unsigned number, epoch, block_acquired, turns[KS_MAX_THREADS / WAVEFRONT];
    unsigned acquired[KS_MAX_THREADS], atomics, overtaken_at;
    KsFences fences;
    unsigned char lds[KS_OVERLAP_LDS];
} ks_other;

KS_QUIET static void ks_swap_bytes(void *one, void *other, size_t size) {
    unsigned char kept[256], *a = (unsigned char *)one, *b = (unsigned char *)other;
    for (size_t part; size; a += part, b += part, size -= part) {
        part = size < sizeof kept ? size : sizeof kept;
        __builtin_memcpy(kept, a, part);
        __builtin_memcpy(a, b, part);
        __builtin_memcpy(b, kept, part);
    }
}
template <typename T> KS_QUIET static void ks_swap(T &one, T &other) {
    ks_swap_bytes(&one, &other, sizeof one);
}

/* The other block's LDS, in the same place. */
KS_QUIET static void ks_swap_lds() {
    unsigned char *kept = ks_other.lds;
    for (unsigned long long i = 0; i < ks_launch->spans; ++i) {
        ks_swap_bytes((void *)ks_launch->lds[i].at, kept, ks_launch->lds[i].bytes);
        kept += ks_launch->lds[i].bytes;
    }
}

/* Whether the parent says where LDS lies, and there is room for another block's. */
KS_QUIET static bool ks_lds_can_be_kept() {
    unsigned long long bytes = 0;
    for (unsigned long long i = 0; i < ks_launch->spans; ++i) bytes += ks_launch->lds[i].bytes;
    return ks_launch->lds && bytes <= KS_OVERLAP_LDS;
}

KS_QUIET static void ks_take_place(bool place) {
    ks_place = place;
    ks_fibers = ks_all_fibers[place];
    ks_stacks = ks_all_stacks[place][0];
    ks_lds_words = ks_all_lds_words[place];
}

/* The other block is now the one that runs. */
KS_QUIET static void ks_swap_blocks() {
    ks_settle();
    ks_swap_lds();
    ks_take_place(!ks_place);
    const KsIndex index = blockIdx;
    blockIdx = ks_other.index;
    ks_other.index = index;
    ks_swap(ks_self, ks_other.self);
    ks_swap(ks_scheduler, ks_other.scheduler);
    ks_swap(ks_block_at, ks_other.at);
    ks_swap(ks_suspended, ks_other_suspended);
    ks_swap(ks_votes, ks_other.votes);
    ks_swap(ks_random_state, ks_other.random_state);
    ks_swap(ks_lanes, ks_other.lanes);
    ks_swap(ks_block_number, ks_other.number);
    ks_swap(ks_epoch, ks_other.epoch);
    ks_swap(ks_block_acquired, ks_other.block_acquired);
    ks_swap(ks_turns, ks_other.turns);
    ks_swap(ks_acquired, ks_other.acquired);
    ks_swap(ks_fences, ks_other.fences);
    ks_swap(ks_atomics, ks_other.atomics);
    ks_swap(ks_overtaken_at, ks_other.overtaken_at);
}

KS_QUIET static __attribute__((noinline, noreturn)) void ks_block_main() {
    ks_schedule();
    ks_switch(&ks_block_at, ks_launcher);
    __builtin_unreachable();
}

/* The block begins, or goes on, until it is through or suspended: then the other one may. */
KS_QUIET static void ks_go_on() {
    ks_suspended = false;
    asm volatile("" : "+m"(blockIdx) : : "memory");
    ks_switch(&ks_launcher, ks_block_at);
    ks_keep_announced();
    if (ks_suspended || (ks_other_suspended && ks_blocks_meanwhile-- == 0)) ks_swap_blocks();
}

/* All blocks that there are to run, each begun by a function. */
template <typename Begin> KS_QUIET static void ks_run_blocks(KsBlocks &blocks, Begin begin) {
    ks_take_place(false);
    ks_overlap = ks_lds_can_be_kept();
    ks_overtakings = KS_OVERTAKINGS;
    ks_starvings = KS_STARVINGS;
    ks_patience = ks_whole_patience = KS_PATIENCE;
    for (unsigned b;;) {
        if (!ks_suspended && blocks.next(b)) {
            ks_draw_overtaking();
            begin(b);
            ks_block_at = ks_new_stack(ks_scheduler_stacks[ks_place] + KS_STACK, ks_block_main);
        } else if (!ks_suspended) {
            if (!ks_other_suspended) return;
            ks_swap_blocks();
        }
        ks_go_on();
    }
}

#endif
