/* Where a thread is interrupted, so that others' operations come between two atomic ones of its
 * own; and where one that may wait for another thread, or for another block, lets that go on. */
#ifndef KS_INTERRUPTS_H
#define KS_INTERRUPTS_H

enum { KS_OFTEN = 32 }; /* so many atomic operations of a thread give way half of the time */
enum { KS_SELDOM = 16 }; /* later ones: one in so many */
enum { KS_OVERTAKINGS = 64 }; /* of blocks of a launch, at random */
/* Accesses before others go on, and atomic operations, which count as more: what waits makes them
 * over and over. More from time to time, for a block that does not wait but works. */
enum { KS_PATIENCE = 1 << 17, KS_MOST_PATIENCE = 1 << 20, KS_ATOMIC = 1 << 6 };
/* As many of those seldom, and so often a launch: what gives up waiting does so then. */
enum { KS_STARVING = 1 << 23, KS_STARVINGS = 1 };

static bool ks_overlap;                        /* may blocks of this launch? */
static bool ks_suspended, ks_other_suspended;  /* the block that runs, and the other one */
static void *ks_block_at, *ks_launcher;        /* where they go on: the block, and the launch */
static unsigned ks_blocks_meanwhile;           /* that end before the suspended one goes on */
static unsigned ks_overtakings;                /* left to this launch */
static unsigned ks_atomics, ks_usual_atomics;  /* of a block on global memory; of one before it */
static unsigned ks_overtaken_at;               /* which of them is late; 0 for none */
static unsigned ks_starvings;                  /* left to this launch */
static int ks_patience, ks_whole_patience;

/* A number below sides. Orders are drawn from other numbers: they must come again. */
KS_QUIET static unsigned ks_dice(unsigned sides) {
    static unsigned long long state = ~KS_SEED;
    return (unsigned)(ks_random(state) % sides);
}
/* Small numbers and large ones alike. */
KS_QUIET static unsigned ks_any_size(unsigned most) { return ks_dice(1 + (most >> ks_dice(8))); }

/* Which of the block's atomic operations another block overtakes. */
KS_QUIET static void ks_draw_overtaking() {
    if (ks_atomics) ks_usual_atomics = ks_atomics;
    ks_atomics = ks_overtaken_at = 0;
    ks_patience = ks_whole_patience;
    if (ks_in_order || !ks_overlap || !ks_overtakings || (ks_other_suspended && ks_blocks_meanwhile)) return;
    if (ks_dice(4) < (ks_other_suspended ? 3 : 1)) return;
    const bool usual = ks_usual_atomics && ks_dice(4);
    ks_overtaken_at = 1 + (usual ? ks_dice(ks_usual_atomics) : ks_any_size(255));
}

/* Let other blocks of the launch come first. */
KS_QUIET static void ks_suspend_block() {
    ks_suspended = true;
    ks_switch(&ks_block_at, ks_launcher);
    asm volatile("" : "+m"(threadIdx), "+m"(blockIdx) : : "memory");
    threadIdx = ks_self->index;
}

/* For blocks that run while another one is suspended. */
KS_QUIET static void ks_draw_patience() {
    const bool starving = ks_starvings && ks_dice(2);
    ks_starvings -= starving;
    ks_patience = ks_whole_patience = starving ? KS_STARVING : KS_PATIENCE;
}

KS_QUIET static __attribute__((noinline)) void ks_lose_patience() {
    if (ks_whole_patience == KS_STARVING)
        ks_whole_patience = KS_PATIENCE;
    else if (ks_other_suspended && ks_whole_patience < KS_MOST_PATIENCE)
        ks_whole_patience *= 2;
    ks_patience = ks_whole_patience;
    if (ks_other_suspended) {
        ks_blocks_meanwhile = 0;
        ks_suspend_block();
    }
    ks_give_way();
}
KS_QUIET static inline void ks_be_patient(int accesses) {
    if ((ks_patience -= accesses) < 0) ks_lose_patience();
}

/* Just before an atomic operation. */
KS_QUIET static void ks_interrupt(bool global) {
    ks_be_patient(KS_ATOMIC);
    if (global && ++ks_atomics == ks_overtaken_at) {
        --ks_overtakings;
        const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
        ks_blocks_meanwhile = ks_dice(4) ? ks_any_size(blocks) : blocks; /* all: it ends last */
        ks_draw_patience();
        ks_suspend_block();
    } else if (!ks_in_order && !ks_dice(ks_self->atomics++ < KS_OFTEN ? 2 : KS_SELDOM)) {
        ks_give_way();
    }
}

#endif
