/* What the parent, the run child and a kernel's generated entries agree on. Plain C. */
#ifndef KS_LAUNCH_H
#define KS_LAUNCH_H

#define KS_MAX_ARGS 64

/* Guard bytes on either side of a variable in LDS: a whole page lies in them, which is hidden. */
#define KS_ZONE 8192

typedef struct KsSpan {
    unsigned long long at, bytes;
} KsSpan;

/* One launch. args hold words of 8 bytes: each argument begins one, and takes as many as it needs. */
typedef struct KsLaunch {
    unsigned grid[3];
    unsigned block[3];
    unsigned long long lds_bytes; /* dynamic */
    unsigned long long args[KS_MAX_ARGS];
    unsigned long long run; /* in checks: how many of all launches came before */
    const KsSpan *lds; /* where no block finds what another one left: in checks it is full of NaNs */
    unsigned long long spans;
    unsigned long long timed; /* some words are changed then, and the rest is left */
    const KsSpan *outputs; /* what is judged in the end; in checks only */
    unsigned long long output_count;
    const KsSpan *margins; /* what lies round buffers in pages that a kernel may write to */
    unsigned long long margin_count;
} KsLaunch;

#endif
