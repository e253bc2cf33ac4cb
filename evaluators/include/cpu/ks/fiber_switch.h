/* From one stack to another: what fibers are made of. */
#ifndef KS_FIBER_SWITCH_H
#define KS_FIBER_SWITCH_H

/* Leave this stack, whose place is saved, for the next one. */
extern "C" void ks_switch(void **save, void *next);
#if defined(__x86_64__)
asm(".text\n.p2align 4\n.local ks_switch\nks_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n");
enum { KS_SAVED = 7, KS_RETURN = 6, KS_PUSHED = 1 };
#elif defined(__aarch64__)
asm(".text\n.p2align 4\n.local ks_switch\nks_switch:\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\n"
    "stp x25, x26, [sp, #48]\nstp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\n"
    "stp d14, d15, [sp, #144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\n"
    "ldp x25, x26, [sp, #48]\nldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\n"
    "ldp d14, d15, [sp, #144]\n"
    "add sp, sp, #160\nret\n");
enum { KS_SAVED = 20, KS_RETURN = 11, KS_PUSHED = 0 };
#endif

/* A stack whose first switch calls a function, which finds it aligned as after a call. end: of its
 * memory, a multiple of 64. */
KS_QUIET static void *ks_new_stack(unsigned char *end, void (*function)()) {
    void **top = (void **)(end - 64) - KS_SAVED - KS_PUSHED;
    for (int i = 0; i < KS_SAVED; ++i) top[i] = nullptr;
    top[KS_RETURN] = (void *)function;
    return top;
}

#endif
