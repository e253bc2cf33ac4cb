/* What the run child gives up before a kernel runs: its signals, its resources, its system calls. */
#ifndef KS_RIGHTS_H
#define KS_RIGHTS_H
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Tells the parent why nothing can be run, and ends the process. */
static void broken(const char *what);

typedef void (*Handler)(int, siginfo_t *, void *);

static void catch_signals(Handler on_fault, Handler on_forbidden) {
    static unsigned char handler_stack[64 << 10];
    stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    if (sigaltstack(&stack, NULL)) broken("sigaltstack");
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    action.sa_sigaction = on_fault;
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (sigaction(faults[i], &action, NULL)) broken("sigaction");
    action.sa_sigaction = on_forbidden;
    if (sigaction(SIGSYS, &action, NULL)) broken("sigaction");
}

static void limit(int which, rlim_t value, const char *name) {
    struct rlimit now;
    if (getrlimit(which, &now)) broken(name);
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) value = now.rlim_max;
    struct rlimit wanted = {value, value};
    if (setrlimit(which, &wanted)) broken(name);
}

static void set_limits(uint64_t mapped_bytes) {
    limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
    limit(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE");
    limit(RLIMIT_CPU, 3600, "RLIMIT_CPU");
    limit(RLIMIT_AS, mapped_bytes + (1ull << 30), "RLIMIT_AS");
    limit(RLIMIT_NPROC, 0, "RLIMIT_NPROC");
    limit(RLIMIT_NOFILE, 0, "RLIMIT_NOFILE");
}

enum {
    SHOWN = MAP_SHARED | MAP_FIXED | MAP_POPULATE,
    HIDDEN = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE
};

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(i) LOAD(args[i]) /* the low half; descriptors and flags fit */
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, action)
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count)
#define SKIP_IF(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0)

/* All that is left: the two pipes and the end. In checks (remaps) also showing and hiding pages of
 * the shared files, never executable ones. mprotect is not left: what is read-only stays so. */
static void enter_filter(int command_fd, int reply_fd, int arena_fd, int data_fd, int remaps) {
    struct sock_filter rules[] = {
        LOAD(arch),
        SKIP_IF(ARCHITECTURE, 1),
        GIVE(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        SKIP_UNLESS(__NR_read, 4),
        LOAD_ARGUMENT(0),
        SKIP_UNLESS((unsigned)command_fd, 1),
        GIVE(SECCOMP_RET_ALLOW),
        GIVE(SECCOMP_RET_TRAP),
        SKIP_UNLESS(__NR_write, 4),
        LOAD_ARGUMENT(0),
        SKIP_UNLESS((unsigned)reply_fd, 1),
        GIVE(SECCOMP_RET_ALLOW),
        GIVE(SECCOMP_RET_TRAP),
        SKIP_UNLESS(remaps ? __NR_mmap : ~0u, 14),
        LOAD_ARGUMENT(2),
        SKIP_UNLESS(PROT_NONE, 3),
        LOAD_ARGUMENT(3),
        SKIP_IF(HIDDEN, 8),
        GIVE(SECCOMP_RET_TRAP),
        SKIP_IF(PROT_READ, 1),
        SKIP_UNLESS(PROT_READ | PROT_WRITE, 6),
        LOAD_ARGUMENT(3),
        SKIP_UNLESS(SHOWN, 4),
        LOAD_ARGUMENT(4),
        SKIP_IF((unsigned)arena_fd, 1),
        SKIP_UNLESS((unsigned)data_fd, 1),
        GIVE(SECCOMP_RET_ALLOW),
        GIVE(SECCOMP_RET_TRAP),
        SKIP_IF(__NR_exit_group, 1),
        SKIP_UNLESS(__NR_rt_sigreturn, 1),
        GIVE(SECCOMP_RET_ALLOW),
        GIVE(SECCOMP_RET_TRAP),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) broken("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) broken("seccomp");
}

#endif
