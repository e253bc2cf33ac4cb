/* The run child on cpu: loads a kernel's libraries, gives up its rights, then serves launches.
 *
 * argv: see the first enum (the stack's offset is one in DATA); then for each library its
 * descriptor, its count of entries, and of its data the address, the bytes that come from the file,
 * all bytes and where they go in DATA.
 *
 * What steers the runner lies in `fixed` and in the table of entries, which are read-only once a
 * kernel may run, as is every table of addresses (linked with full RELRO); pages of code can't be
 * written, and no call is left that changes that. So a kernel's stray write ends it. A kernel that
 * means harm can still find this process's own stack, and with a return address there every turn
 * that it takes. It gains no time by that: the parent alone sends commands, reads this process's
 * clock from one command's end to the next one's, holds it to be done when it sleeps, and
 * judges the outputs; `sequence` is no more than what an honest reply repeats. What it hides there,
 * or in libc's pages, while the parent clears the kernels' own variables and stack, is of
 * use only where inputs come again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "launch.h"
#include "rights.h"
#include "stack.h"

enum { PARENT = 1, CORE, REMAPS, ARENA_BYTES, SCRIPT_BYTES, COMMANDS, REPLIES, ARENA, SCRIPT, DATA,
       STACK_BYTES, STACK_OFFSET, LIBRARIES };
enum { STACK_GUARD = 1 << 20 };
enum { FD, ENTRIES, START, FILLED, BYTES, OFFSET, FIELDS }; /* of each library */

/* Replies. LOADED: a library's base. READY: the arena's. */
enum { READY = 1, DONE, FAULT, FORBIDDEN_CALL, BROKEN, LOADED };
typedef struct {
    uint32_t kind, sequence;
    int64_t a, b, c;
    char text[96];
} Reply;

/* Commands. MAP: address, bytes, place in the arena (MAP_DATA: in the libraries' data). HIDE:
 * address, bytes. SEAL: give up all rights. MAP_READ_ONLY: as MAP. RUN: records in the script. */
enum { MAP = 1, RUN, MAP_DATA, HIDE, SEAL, MAP_READ_ONLY };
typedef struct {
    uint32_t kind, sequence;
    uint64_t a, b, c;
} Command;

/* The script's records, written by the parent. A pointer argument is an offset into the arena. */
enum { LAUNCH = 1, FILL, SPANS };
typedef struct {
    uint32_t kind, size; /* size: bytes of this record, a multiple of 8 */
    uint32_t library, entry;
    uint32_t grid[3], block[3];
    uint64_t lds_bytes; /* SPANS: how many are LDS, before the outputs */
    uint64_t pointers; /* bit i: word i is a pointer. SPANS: how many are outputs, before margins */
    uint64_t values[]; /* FILL: offset, bytes, byte value. SPANS: for the next launch */
} Record;

static union {
    struct {
        Entry **entries; /* by library */
        uint64_t table_bytes;
        unsigned char *arena;
        const unsigned char *script;
        unsigned char *stack_top;
        uint64_t arena_bytes, script_bytes, variable_bytes;
        int command_fd, reply_fd, arena_fd, data_fd, remaps;
    };
    unsigned char pages[64 << 10];
} fixed __attribute__((aligned(64 << 10))); /* whole pages on every machine */
static uint32_t sequence;

static void reply(uint32_t kind, int64_t a, int64_t b, int64_t c, const char *text) {
    Reply r = {.kind = kind, .sequence = sequence, .a = a, .b = b, .c = c};
    if (text) strncpy(r.text, text, sizeof r.text - 1);
    if (write(fixed.reply_fd, &r, sizeof r) != (ssize_t)sizeof r) _exit(3);
}

static void broken(const char *what) {
    char text[96];
    snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
    reply(BROKEN, errno, 0, 0, text);
    _exit(2);
}

/* a: signal; b: address; c: 1 write, 0 read, -1 unknown. */
static void on_fault(int number, siginfo_t *info, void *context) {
    int64_t writes = -1;
#if defined(__x86_64__)
    if (number == SIGSEGV || number == SIGBUS)
        writes = (((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] >> 1) & 1;
#else
    (void)context;
#endif
    reply(FAULT, number, (int64_t)(intptr_t)info->si_addr, writes, NULL);
    _exit(1);
}

static void on_forbidden(int number, siginfo_t *info, void *context) {
    (void)number, (void)context;
    reply(FORBIDDEN_CALL, info->si_syscall, 0, 0, NULL);
    _exit(1);
}

static void *mapped_for(int rights, void *at, uint64_t bytes, int flags, int fd, uint64_t offset) {
    void *found = mmap(at, bytes, rights, flags, fd, (off_t)offset);
    if (found == MAP_FAILED) broken("mapping memory");
    return found;
}

static void *mapped(void *at, uint64_t bytes, int flags, int fd, uint64_t offset) {
    return mapped_for(PROT_READ | PROT_WRITE, at, bytes, flags, fd, offset);
}

/* A library's variables move, as they are after loading, into memory that the parent shares. */
static void share(unsigned char *start, uint64_t filled, uint64_t bytes, uint64_t offset) {
    if (!bytes) return;
    void *copy = mapped(NULL, bytes, MAP_SHARED, fixed.data_fd, offset);
    memcpy(copy, start, filled);
    munmap(copy, bytes);
    mapped(start, bytes, MAP_SHARED | MAP_FIXED, fixed.data_fd, offset);
}

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

static void load(char **argv, Entry *entries) {
    char path[64], name[64];
    snprintf(path, sizeof path, "/proc/self/fd/%s", argv[FD]);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        reply(BROKEN, 0, 0, 0, dlerror());
        _exit(2);
    }
    close((int)number(argv[FD]));
    for (uint64_t k = 0; k < number(argv[ENTRIES]); k++) {
        snprintf(name, sizeof name, "__ks_entry_%d", (int)k);
        entries[k] = (Entry)(uintptr_t)dlsym(library, name);
        if (!entries[k]) broken(name);
    }
    struct link_map *found;
    if (dlinfo(library, RTLD_DI_LINKMAP, &found)) broken("dlinfo");
    unsigned char *start = (unsigned char *)found->l_addr + number(argv[START]);
    share(start, number(argv[FILLED]), number(argv[BYTES]), number(argv[OFFSET]));
    fixed.variable_bytes += number(argv[BYTES]);
    reply(LOADED, (int64_t)found->l_addr, 0, 0, NULL);
}

static void load_all(int count, char **argv) {
    uint64_t slots = (uint64_t)count + 1;
    for (int i = 0; i < count; i++) slots += number(argv[FIELDS * i + ENTRIES]);
    fixed.table_bytes = slots * sizeof(void *);
    fixed.entries = mapped(NULL, fixed.table_bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Entry *next = (Entry *)(fixed.entries + count);
    for (int i = 0; i < count; i++, argv += FIELDS) {
        fixed.entries[i] = next;
        load(argv, next);
        next += number(argv[ENTRIES]);
    }
}

static void reserve_memory(int script_fd) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    fixed.arena = mmap(NULL, fixed.arena_bytes, PROT_NONE, flags, -1, 0);
    if (fixed.arena == MAP_FAILED) broken("reserving the arena");
    fixed.script = mmap(NULL, fixed.script_bytes, PROT_READ, MAP_SHARED, script_fd, 0);
    if (fixed.script == MAP_FAILED) broken("mapping the script");
    close(script_fd);
}

/* Kernels run on a stack that the parent clears; below it lies a guard. */
static void share_stack(uint64_t bytes, uint64_t offset) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    unsigned char *guard = mmap(NULL, bytes + STACK_GUARD, PROT_NONE, flags, -1, 0);
    if (guard == MAP_FAILED) broken("reserving the stack");
    mapped(guard + STACK_GUARD, bytes, MAP_SHARED | MAP_FIXED, fixed.data_fd, offset);
    fixed.stack_top = guard + STACK_GUARD + bytes;
}

static void seal(void) {
    if (mprotect(&fixed, sizeof fixed, PROT_READ) ||
        mprotect(fixed.entries, fixed.table_bytes, PROT_READ))
        broken("mprotect");
    if (!fixed.remaps) close(fixed.arena_fd), close(fixed.data_fd);
    enter_filter(fixed.command_fd, fixed.reply_fd, fixed.arena_fd, fixed.data_fd, fixed.remaps);
}

static void forget_spans(KsLaunch *launch) {
    launch->lds = launch->outputs = launch->margins = NULL;
    launch->spans = launch->output_count = launch->margin_count = 0;
    launch->run = launch->timed = 0;
}

static void play(uint64_t records) {
    KsLaunch launch;
    const unsigned char *at = fixed.script;
    forget_spans(&launch);
    for (uint64_t i = 0; i < records; i++) {
        const Record *r = (const Record *)at;
        at += r->size;
        unsigned count = (unsigned)((r->size - sizeof *r) / 8);
        if (r->kind == FILL) {
            memset(fixed.arena + r->values[0], (int)r->values[2], r->values[1]);
            continue;
        }
        if (r->kind == SPANS) {
            launch.lds = (const KsSpan *)r->values, launch.spans = r->lds_bytes;
            launch.outputs = launch.lds + launch.spans;
            launch.output_count = r->pointers;
            launch.margins = launch.outputs + launch.output_count;
            launch.margin_count = count / 2 - launch.spans - launch.output_count;
            launch.run = r->library, launch.timed = r->entry;
            continue;
        }
        for (unsigned k = 0; k < count; k++)
            launch.args[k] =
                r->values[k] + ((r->pointers >> k & 1) ? (uint64_t)(uintptr_t)fixed.arena : 0);
        memcpy(launch.grid, r->grid, sizeof launch.grid);
        memcpy(launch.block, r->block, sizeof launch.block);
        launch.lds_bytes = r->lds_bytes;
        call_on(fixed.stack_top, fixed.entries[r->library][r->entry], &launch);
        forget_spans(&launch);
    }
}

static void serve(void) {
    Command command;
    for (;;) {
        ssize_t got = read(fixed.command_fd, &command, sizeof command);
        if (got != (ssize_t)sizeof command) _exit(0); /* the parent closed the session */
        sequence = command.sequence;
        void *at = (void *)(uintptr_t)command.a;
        if (command.kind == RUN)
            play(command.a);
        else if (command.kind == SEAL)
            seal();
        else if (command.kind == MAP_READ_ONLY)
            mapped_for(PROT_READ, at, command.b, SHOWN, fixed.arena_fd, command.c);
        else if (command.kind == HIDE) {
            if (mmap(at, command.b, PROT_NONE, HIDDEN, -1, 0) == MAP_FAILED) broken("hiding");
        } else
            mapped(at, command.b, SHOWN, command.kind == MAP ? fixed.arena_fd : fixed.data_fd,
                   command.c);
        reply(DONE, 0, 0, 0, NULL);
    }
}

/* libm must be there for the kernels' undefined symbols, also where a linker drops what
 * the runner itself does not use. */
const void *const needed_for_kernels[] = {(const void *)(uintptr_t)(double (*)(double))sin};

int main(int argc, char **argv) {
    if (argc < LIBRARIES) return 2;
    fixed.remaps = atoi(argv[REMAPS]);
    fixed.arena_bytes = number(argv[ARENA_BYTES]);
    fixed.script_bytes = number(argv[SCRIPT_BYTES]);
    fixed.command_fd = atoi(argv[COMMANDS]);
    fixed.reply_fd = atoi(argv[REPLIES]);
    fixed.arena_fd = atoi(argv[ARENA]);
    fixed.data_fd = atoi(argv[DATA]);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) broken("parent-death signal");
    if (getppid() != atoi(argv[PARENT])) return 2; /* the parent died before we asked */
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(atoi(argv[CORE]), &cores);
    if (sched_setaffinity(0, sizeof cores, &cores)) broken("sched_setaffinity");
    reserve_memory(atoi(argv[SCRIPT]));
    share_stack(number(argv[STACK_BYTES]), number(argv[STACK_OFFSET]));
    load_all((argc - LIBRARIES) / FIELDS, argv + LIBRARIES);
    for (int fd = 0; fd < 3; fd++) close(fd);
    catch_signals(on_fault, on_forbidden);
    set_limits(fixed.arena_bytes + fixed.script_bytes + fixed.variable_bytes);
    reply(READY, (int64_t)(intptr_t)fixed.arena, 0, 0, NULL);
    serve();
}
