/* Every GPU thread as a fiber: barriers and wavefront operations switch.
 *
 * Who comes next is the oracle's matter (random_turns.h), or goes by numbers where the kernel is
 * timed (plain_turns.h). */
#ifndef KS_FIBERS_H
#define KS_FIBERS_H

#include "entry.h"
#include "fiber_switch.h"
#include "masks.h"
#ifdef KS_ORACLE
#include "random_order.h"
#endif

enum { KS_MAX_THREADS = 1024, KS_STACK = 64 << 10, KS_MAX_CALLS = 62 };
enum KsState { KS_READY, KS_AT_BARRIER, KS_AT_WAVE, KS_DONE };

struct KsFiber {
    void *stack_pointer;
    KsState state;
    int line; /* of the operation that it waits for */
    int called_from; /* the line of the call that it was last in */
    int path[KS_MAX_CALLS + 1], depth; /* where it waits: calls and loops, then the operation */
    unsigned long long shown; /* what it shows to others */
    KsMask mask;              /* of the _sync operation that it waits for */
    KsIndex index;
    bool vote;
    int atomics; /* how many it has made */
};

#ifdef KS_ORACLE
enum { KS_PLACES = 2 }; /* one block may be suspended while another one runs */
#else
enum { KS_PLACES = 1 };
#endif
static KsFiber ks_all_fibers[KS_PLACES][KS_MAX_THREADS];
alignas(4096) static unsigned char ks_all_stacks[KS_PLACES][KS_MAX_THREADS][KS_STACK];
static KsFiber *ks_fibers; /* those of the block that runs */
static unsigned char *ks_stacks;
static unsigned long long ks_lanes[KS_MAX_THREADS]; /* shown, when the operation took place */
static KsFiber *ks_self;
static void *ks_scheduler;
static int ks_threads, ks_votes;

KS_INLINE int ks_own_thread() { return (int)(ks_self - ks_fibers); }

/* Give way to the scheduler until it lets this fiber go on. */
KS_QUIET static __attribute__((noinline)) void ks_give_way() {
    KsFiber *self = ks_self;
    ks_switch(&self->stack_pointer, ks_scheduler);
    asm volatile("" : "+m"(threadIdx) : : "memory");
    threadIdx = self->index;
}

#ifdef KS_ORACLE
#include "interrupts.h"

#include "access_hooks.h"
#else
KS_INLINE void ks_settle() {}
static unsigned ks_epoch, ks_turns[KS_MAX_THREADS / WAVEFRONT];
#endif

/* Give way until what it waits for has come. */
KS_QUIET static __attribute__((noinline)) void ks_wait(KsState state, int site, int line) {
    ks_settle();
    KsFiber *self = ks_self;
    self->state = state;
    self->path[self->depth] = site;
    self->line = line;
    ks_give_way();
}

/* Wait until the other lanes of the wavefront are here or elsewhere. */
KS_INLINE void ks_meet(int site, int line, KsMask mask = {}) {
    ks_self->mask = mask;
    ks_wait(KS_AT_WAVE, site, line);
}

KS_QUIET static __attribute__((noinline)) void ks_diverged(int line) {
    (void)*(volatile char *)(KS_DIVERGED + (unsigned)line);
}

#define __syncthreads() ks_wait(KS_AT_BARRIER, __COUNTER__, __LINE__)
#define __builtin_amdgcn_s_barrier() __syncthreads()
#define KS_MASK(mask)                                                                              \
    ks_mask([&] {                                                                                  \
        static_assert(ks_wide<decltype(mask)>, KS_NARROW);                                         \
        return mask;                                                                               \
    }())
#define __syncwarp(...) ks_meet(__COUNTER__, __LINE__ __VA_OPT__(, KS_MASK(__VA_ARGS__)))
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __lane_id() (ks_own_thread() % WAVEFRONT)

KS_QUIET static __attribute__((noinline)) int ks_block_votes(bool vote, int site, int line) {
    ks_self->vote = vote;
    ks_wait(KS_AT_BARRIER, site, line);
    return ks_votes;
}
#define __syncthreads_count(vote) ks_block_votes(vote, __COUNTER__, __LINE__)
#define __syncthreads_or(vote) int(ks_block_votes(vote, __COUNTER__, __LINE__) != 0)
#define __syncthreads_and(vote) int(ks_block_votes(!(vote), __COUNTER__, __LINE__) == 0)

/* A call of a function that holds one of these operations. */
struct KsCall {
    KsCall(int site) {
        if (ks_self->depth >= KS_MAX_CALLS) __builtin_trap();
        ks_self->path[ks_self->depth++] = site;
    }
    ~KsCall() { --ks_self->depth; }
};
/* A loop that holds one: lanes in different turns of it don't meet. */
struct KsLoop {
    KsCall call, turn;
    KsLoop(int site) : call(site), turn(0) {}
    void next() { ++ks_self->path[ks_self->depth - 1]; }
};
template <typename Function>
KS_INLINE decltype(auto) ks_called(int site, int line, Function function) {
    KsCall call(site);
    ks_self->called_from = line;
    return function();
}
#define KS_CALL(...)                                                                               \
    ks_called(__COUNTER__, __LINE__, [&]() -> decltype(auto) { return __VA_ARGS__; })

/* Which of two waiting fibers comes first in the source: negative, zero (the same) or positive. */
KS_QUIET static int ks_order(const KsFiber &a, const KsFiber &b) {
    for (int i = 0;; ++i) {
        if (a.path[i] != b.path[i]) return a.path[i] - b.path[i];
        if (i == a.depth || i == b.depth) return a.depth - b.depth;
    }
}

#include "fiber_exchange.h"

/* The lanes of a wavefront that wait for the operation which comes first in the source go on. */
KS_QUIET static bool ks_release_wave(int first, int end) {
    const KsFiber *next = nullptr;
    for (int t = first; t < end; ++t) {
        const KsFiber &fiber = ks_fibers[t];
        if (fiber.state == KS_AT_WAVE && (!next || ks_order(fiber, *next) < 0)) next = &fiber;
    }
    if (!next) return false;
    ++ks_turns[first / WAVEFRONT];
    bool here[WAVEFRONT] = {};
    for (int t = first; t < end; ++t)
        here[t - first] = ks_fibers[t].state == KS_AT_WAVE && ks_order(ks_fibers[t], *next) == 0;
    KsMask masks[WAVEFRONT] = {};
    for (int t = first; t < end; ++t)
        if (here[t - first]) masks[t - first] = ks_fibers[t].mask;
    ks_check_masks(masks, next->line);
    for (int t = first; t < end; ++t) {
        ks_lanes[t] = here[t - first] ? ks_fibers[t].shown : 0;
        if (here[t - first]) ks_fibers[t].state = KS_READY;
    }
    return true;
}

/* All threads that still run wait at a barrier: the same one, or the kernel is wrong. */
KS_QUIET static bool ks_release_block() {
    const KsFiber *first = nullptr;
    ks_votes = 0;
    for (int t = 0; t < ks_threads; ++t) {
        KsFiber &fiber = ks_fibers[t];
        if (fiber.state != KS_AT_BARRIER) continue;
        if (!first) first = &fiber;
        if (ks_order(fiber, *first) != 0) ks_diverged(fiber.line);
        ks_votes += fiber.vote;
        fiber.vote = false;
        fiber.state = KS_READY;
    }
    ++ks_epoch;
    return first;
}

static void (*ks_call)(); /* the kernel, with this launch's arguments */

KS_QUIET static __attribute__((noinline, noreturn)) void ks_fiber_main() {
    threadIdx = ks_self->index;
    ks_call();
    ks_wait(KS_DONE, 0, 0);
    __builtin_unreachable();
}

KS_QUIET static void ks_start(unsigned x, unsigned y, unsigned z, int thread) {
    KsFiber &fiber = ks_fibers[thread];
    fiber = {};
    fiber.index = {x, y, z};
    const size_t bytes = sizeof *ks_all_stacks / ks_threads / 4096 * 4096; /* few have more each */
    fiber.stack_pointer = ks_new_stack(ks_stacks + (thread + 1) * bytes, ks_fiber_main);
}

#ifdef KS_ORACLE
#include "random_turns.h"
#else
#include "plain_turns.h"
#endif

template <auto kernel> struct KsFibers;
template <typename... P, void (*kernel)(P...)> struct KsFibers<kernel> {
    static const KsLaunch *launch;

    template <size_t... I> static void pass(KsSequence<I...>) {
        kernel(ks_argument<P>(launch, ks_word<P...>(I))...);
    }
    static void call() { pass(typename KsCount<sizeof...(P)>::type()); }

    template <unsigned X, unsigned Y, unsigned Z> KS_QUIET static void run(const KsLaunch *asked) {
        static_assert(X * Y * Z <= KS_MAX_THREADS, "a block has at most 1024 threads");
        static KsOrders orders;
        launch = asked;
        ks_call = &call;
        ks_threads = X * Y * Z;
        gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]};
        orders.begin(asked);
        ks_run_launch(asked, [](unsigned b) KS_QUIET {
            ks_poison(launch);
            blockIdx = {b % gridDim.x, b / gridDim.x % gridDim.y, b / gridDim.x / gridDim.y};
            orders.of_block(b);
            ks_start_block();
            for (unsigned t = 0; t < X * Y * Z; ++t) ks_start(t % X, t / X % Y, t / X / Y, (int)t);
        });
    }
};
template <typename... P, void (*kernel)(P...)> const KsLaunch *KsFibers<kernel>::launch;

#if defined(KS_ORACLE) && !defined(__clang__) /* g++ calls no hooks for these */
#define __builtin_memcpy(to, from, size)                                                           \
    ks_hook_memcpy((unsigned char *)(to), (const unsigned char *)(from), size)
#define __builtin_memmove(to, from, size)                                                          \
    ks_hook_memmove((unsigned char *)(to), (const unsigned char *)(from), size)
#define __builtin_memset(to, value, size) ks_hook_memset((unsigned char *)(to), value, size)
#endif
#include "memory.h"

#endif
