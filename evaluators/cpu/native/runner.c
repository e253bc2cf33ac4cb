/* The run child on cpu: loads a kernel's libraries, gives up its rights, then serves launches.
 *
 * argv: parent pid, core, arena bytes, script bytes; descriptors of commands, replies, arena and
 * script; then for each library its descriptor and its count of entries. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "launch.h"

enum { PARENT = 1, CORE, ARENA_BYTES, SCRIPT_BYTES, COMMANDS, REPLIES, ARENA, SCRIPT, LIBRARIES };

/* Replies. */
enum { READY = 1, DONE, FAULT, FORBIDDEN_CALL, BROKEN };
typedef struct {
    uint32_t kind, sequence;
    int64_t a, b, c;
    char text[96];
} Reply;

/* Commands. MAP: offset, bytes. RUN: records in the script. */
enum { MAP = 1, RUN };
typedef struct {
    uint32_t kind, sequence;
    uint64_t a, b;
} Command;

/* The script's records, written by the parent. A pointer argument is an offset into the arena. */
enum { LAUNCH = 1, FILL };
typedef struct {
    uint32_t kind, size; /* size: bytes of this record, a multiple of 8 */
    uint32_t library, entry;
    uint32_t grid[3], block[3];
    uint64_t lds_bytes;
    uint64_t pointers; /* bit i: argument i is a pointer */
    uint64_t values[]; /* FILL: offset, bytes, byte value */
} Record;

typedef void (*Entry)(const KsLaunch *);

static Entry **entries; /* by library */
static int command_fd, reply_fd, arena_fd;
static unsigned char *arena;
static const unsigned char *script;
static uint64_t arena_bytes, script_bytes;
static uint32_t sequence;
static unsigned char handler_stack[64 << 10];

static void reply(uint32_t kind, int64_t a, int64_t b, int64_t c, const char *text) {
    Reply r = {.kind = kind, .sequence = sequence, .a = a, .b = b, .c = c};
    if (text) strncpy(r.text, text, sizeof r.text - 1);
    if (write(reply_fd, &r, sizeof r) != (ssize_t)sizeof r) _exit(3);
}

static void broken(const char *what) {
    char text[96];
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    reply(BROKEN, errno, 0, 0, text);
    _exit(2);
}

/* a: signal; b: address, as an offset from the arena's start; c: 1 write, 0 read, -1 unknown. */
static void on_fault(int number, siginfo_t *info, void *context) {
    int64_t writes = -1;
#if defined(__x86_64__)
    if (number == SIGSEGV || number == SIGBUS)
        writes = (((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1) & 1;
#else
    (void)context;
#endif
    reply(FAULT, number, (int64_t)((intptr_t)info->si_addr - (intptr_t)arena), writes, NULL);
    _exit(1);
}

static void on_forbidden(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    reply(FORBIDDEN_CALL, info->si_syscall, 0, 0, NULL);
    _exit(1);
}

static void catch_signals(void) {
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

static void set_limits(void) {
    limit(RLIMIT_CORE, 0, "RLIMIT_CORE");
    limit(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE");
    limit(RLIMIT_CPU, 3600, "RLIMIT_CPU");
    limit(RLIMIT_AS, arena_bytes + script_bytes + (1ull << 30), "RLIMIT_AS");
    limit(RLIMIT_NPROC, 0, "RLIMIT_NPROC");
    limit(RLIMIT_NOFILE, 0, "RLIMIT_NOFILE");
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define LOAD_ARGUMENT(i) LOAD(args[i]) /* the low half; descriptors and flags fit */
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, action)
#define SKIP_UNLESS(value, count) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count)

/* All that is left: the two pipes, the end, and mapping more of the arena, never executable. */
static void enter_filter(void) {
    struct sock_filter rules[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
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
        SKIP_UNLESS(__NR_mmap, 8),
        LOAD_ARGUMENT(2),
        SKIP_UNLESS(PROT_READ | PROT_WRITE, 5),
        LOAD_ARGUMENT(3),
        SKIP_UNLESS(MAP_SHARED | MAP_FIXED | MAP_POPULATE, 3),
        LOAD_ARGUMENT(4),
        SKIP_UNLESS((unsigned)arena_fd, 1),
        GIVE(SECCOMP_RET_ALLOW),
        GIVE(SECCOMP_RET_TRAP),
        SKIP_UNLESS(__NR_exit_group, 1),
        GIVE(SECCOMP_RET_ALLOW),
        SKIP_UNLESS(__NR_rt_sigreturn, 1),
        GIVE(SECCOMP_RET_ALLOW),
        GIVE(SECCOMP_RET_TRAP),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) broken("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) broken("seccomp");
}

static void load(int count, char **libraries) {
    entries = calloc((size_t)count + 1, sizeof *entries);
    if (!entries) broken("calloc");
    for (int i = 0; i < count; i++) {
        int fd = atoi(libraries[2 * i]), n = atoi(libraries[2 * i + 1]);
        char path[64], name[64];
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            reply(BROKEN, 0, 0, 0, dlerror());
            _exit(2);
        }
        close(fd);
        entries[i] = calloc((size_t)n + 1, sizeof **entries);
        if (!entries[i]) broken("calloc");
        for (int k = 0; k < n; k++) {
            snprintf(name, sizeof name, "__ks_entry_%d", k);
            entries[i][k] = (Entry)(uintptr_t)dlsym(library, name);
            if (!entries[i][k]) broken(name);
        }
    }
}

static void reserve_memory(int script_fd) {
    arena = mmap(NULL, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) broken("reserving the arena");
    script = mmap(NULL, script_bytes, PROT_READ, MAP_SHARED, script_fd, 0);
    if (script == MAP_FAILED) broken("mapping the script");
    close(script_fd);
}

static void map(uint64_t offset, uint64_t bytes) {
    const int flags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
    if (mmap(arena + offset, bytes, PROT_READ | PROT_WRITE, flags, arena_fd, (off_t)offset) ==
        MAP_FAILED)
        broken("mapping a buffer");
}

static void play(uint64_t records) {
    KsLaunch launch;
    const unsigned char *at = script;
    for (uint64_t i = 0; i < records; i++) {
        const Record *r = (const Record *)at;
        at += r->size;
        if (r->kind == FILL) {
            memset(arena + r->values[0], (int)r->values[2], r->values[1]);
            continue;
        }
        unsigned count = (unsigned)((r->size - sizeof *r) / 8);
        for (unsigned k = 0; k < count; k++)
            launch.args[k] = r->values[k] + ((r->pointers >> k & 1) ? (uint64_t)(uintptr_t)arena : 0);
        memcpy(launch.grid, r->grid, sizeof launch.grid);
        memcpy(launch.block, r->block, sizeof launch.block);
        launch.lds_bytes = r->lds_bytes;
        entries[r->library][r->entry](&launch);
    }
}

static void serve(void) {
    Command command;
    for (;;) {
        ssize_t got = read(command_fd, &command, sizeof command);
        if (got != (ssize_t)sizeof command) _exit(0); /* the parent closed the session */
        sequence = command.sequence;
        if (command.kind == MAP)
            map(command.a, command.b);
        else
            play(command.a);
        reply(DONE, 0, 0, 0, NULL);
    }
}

/* libm must be there for the kernels' undefined symbols, also where a linker drops what
 * the runner itself does not use. */
const void *const needed_for_kernels[] = {(const void *)(uintptr_t)(double (*)(double))sin};

int main(int argc, char **argv) {
    if (argc < LIBRARIES) return 2;
    arena_bytes = strtoull(argv[ARENA_BYTES], NULL, 10);
    script_bytes = strtoull(argv[SCRIPT_BYTES], NULL, 10);
    command_fd = atoi(argv[COMMANDS]);
    reply_fd = atoi(argv[REPLIES]);
    arena_fd = atoi(argv[ARENA]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) broken("parent-death signal");
    if (getppid() != atoi(argv[PARENT])) return 2; /* the parent died before we asked */
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(atoi(argv[CORE]), &cores);
    if (sched_setaffinity(0, sizeof cores, &cores)) broken("sched_setaffinity");
    reserve_memory(atoi(argv[SCRIPT]));
    load((argc - LIBRARIES) / 2, argv + LIBRARIES);
    for (int fd = 0; fd < 3; fd++) close(fd);
    catch_signals();
    set_limits();
    enter_filter();
    reply(READY, (int64_t)(intptr_t)arena, 0, 0, NULL);
    serve();
}
