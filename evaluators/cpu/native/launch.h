/* What the parent, the run child and a kernel's generated entries agree on. Plain C. */
#ifndef KS_LAUNCH_H
#define KS_LAUNCH_H

#define KS_MAX_ARGS 64

/* One launch. args hold a pointer or a scalar's bytes each, in the low bytes. */
typedef struct KsLaunch {
    unsigned grid[3];
    unsigned block[3];
    unsigned long long lds_bytes; /* dynamic */
    unsigned long long args[KS_MAX_ARGS];
} KsLaunch;

#endif
