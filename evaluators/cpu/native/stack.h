/* Calls an entry on a stack that the parent shares, so that it can clear what a launch left there. */
#ifndef KS_STACK_H
#define KS_STACK_H
#include "launch.h"

typedef void (*Entry)(const KsLaunch *);

/* top: a multiple of 16. Nothing that a call may change is kept in registers round it. */
static inline void call_on(void *top, Entry entry, const KsLaunch *launch) {
#if defined(__x86_64__)
    __asm__ volatile(
        "movq %%rsp, %%rbx\n\tmovq %1, %%rsp\n\tcall *%2\n\tmovq %%rbx, %%rsp"
        : "+D"(launch)
        : "r"(top), "r"(entry)
        : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2",
          "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
          "xmm13", "xmm14", "xmm15", "cc", "memory");
#elif defined(__aarch64__)
    register const KsLaunch *first __asm__("x0") = launch;
    __asm__ volatile(
        "mov x19, sp\n\tmov sp, %1\n\tblr %2\n\tmov sp, x19"
        : "+r"(first)
        : "r"(top), "r"(entry)
        : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
          "x15", "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
          "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",
          "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
          "cc", "memory");
#endif
}

#endif
