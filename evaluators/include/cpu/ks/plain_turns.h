/* Turns of a kernel that is timed: blocks, wavefronts and lanes in the order of their numbers. */
#ifndef KS_PLAIN_TURNS_H
#define KS_PLAIN_TURNS_H

struct KsOrders {
    void begin(const KsLaunch *) {}
    void of_block(unsigned) {}
};
/* What the oracle counts on is the same after every launch, or it would seem to be a kernel's state. */
KS_INLINE void ks_start_block() {
    ks_epoch = 0;
    for (unsigned &turns : ks_turns) turns = 0;
}

static void ks_run_lanes(int first, int end) {
    for (int t = first; t < end; ++t) {
        if (ks_fibers[t].state != KS_READY) continue;
        ks_self = &ks_fibers[t];
        threadIdx = ks_self->index;
        asm volatile("" : "+m"(threadIdx) : : "memory");
        ks_switch(&ks_scheduler, ks_self->stack_pointer);
    }
}

/* Run the block's fibers to their end: each wavefront to the block's next barrier, then all on. */
static void ks_schedule() {
    do
        for (int first = 0; first < ks_threads; first += WAVEFRONT) {
            const int whole = first + WAVEFRONT, end = whole < ks_threads ? whole : ks_threads;
            for (int t = end; t < whole && t < KS_MAX_THREADS; ++t) ks_lanes[t] = 0;
            do ks_run_lanes(first, end);
            while (ks_release_wave(first, end));
        }
    while (ks_release_block());
}

template <typename Begin> static void ks_run_launch(const KsLaunch *, Begin begin) {
    ks_fibers = ks_all_fibers[0];
    ks_stacks = ks_all_stacks[0][0];
    const unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
    for (unsigned b = 0; b < blocks; ++b) {
        begin(b);
        asm volatile("" : "+m"(blockIdx) : : "memory");
        ks_schedule();
    }
}

#endif
