/* The double's streams: one worker thread does what they hold, in order. */
#include "double.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct ihipGraph queue;
static int busy, started;
static __thread volatile int in_kernel;
static __thread sigjmp_buf out_of_kernel;
static __thread void *volatile fault_address;

/* An access to a guard page, or a division by zero, ends the kernel. */
static void leave_kernel(int number, siginfo_t *what, void *unused) {
    (void)unused;
    fault_address = what->si_addr;
    if (in_kernel) siglongjmp(out_of_kernel, number);
    signal(number, SIG_DFL); /* not ours: happens again, and ends the process */
}

/* As ROCr (amd_core_dump.cpp, runtime.cpp): the device's memory into a file, then abort(). */
static void memory_fault(void) {
    struct rlimit limit;
    char name[64];
    fprintf(stderr, "Memory access fault by GPU node-1 (Agent handle: 0x1) on address %p. "
            "Reason: Page not present or supervisor privilege.\n", fault_address);
    getrlimit(RLIMIT_CORE, &limit);
    snprintf(name, sizeof name, "gpucore.%d", getpid());
    FILE *file = limit.rlim_cur ? fopen(name, "w") : NULL;
    if (file) {
        fputs("the device's memory", file);
        fclose(file);
        fprintf(stderr, "GPU core dump created: %s\n", name);
    } else {
        fprintf(stderr, "GPU core dump failed\n");
    }
    abort();
}

static void run_guarded(void (*run)(const KsLaunch *), const KsLaunch *launch) {
    struct sigaction mine = {.sa_sigaction = leave_kernel,
                             .sa_flags = SA_NODEFER | SA_SIGINFO}, before[2];
    sigaction(SIGSEGV, &mine, &before[0]);
    sigaction(SIGFPE, &mine, &before[1]);
    int number = sigsetjmp(out_of_kernel, 1);
    if (!number) {
        in_kernel = 1;
        run(launch);
    } else {
        if (number == SIGSEGV) memory_fault();
        double_sticky = hipErrorLaunchFailure;
    }
    in_kernel = 0;
    sigaction(SIGSEGV, &before[0], NULL);
    sigaction(SIGFPE, &before[1], NULL);
}

static void write_log(const struct ihipModuleSymbol_t *f, const KsLaunch *launch, int device) {
    const char *log = getenv("HIP_DOUBLE_LOG");
    FILE *file = log ? fopen(log, "a") : NULL;
    if (!file) return;
    fprintf(file, "%d %s %u,%u,%u %u,%u,%u %d\n", double_physical[device], f->symbol,
            launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
            launch->block[2], (int)getpid());
    fclose(file);
}

static void execute(struct ihipModuleSymbol_t *f, const KsLaunch *launch, int device) {
    write_log(f, launch, device);
    if (double_fault_due("abort", f->symbol)) memory_fault();
    if (double_fault_due("illegal_address", f->symbol)) double_sticky = hipErrorIllegalAddress;
    if (double_fault_due("launch_failure", f->symbol)) double_sticky = hipErrorLaunchFailure;
    if (double_fault_due("hang", f->symbol)) for (;;) pause();
    if (double_sticky) return;
    for (unsigned i = 0; i < f->twins; i++)
        if (!memcmp(f->twin[i].block, launch->block, sizeof launch->block)) {
            run_guarded(f->twin[i].run, launch);
            return;
        }
    fprintf(stderr, "no twin of %s for blocks of %u x %u x %u\n", f->symbol, launch->block[0],
            launch->block[1], launch->block[2]);
    double_sticky = hipErrorLaunchFailure;
}

void double_append(struct ihipGraph *graph, const Node *what) {
    Node *node = malloc(sizeof *node);
    *node = *what;
    node->next = NULL;
    if (graph->last) graph->last->next = node;
    else graph->first = node;
    graph->last = node;
}

static void perform(const Node *node) {
    struct timespec now;
    if (node->kind == LAUNCH) execute(node->function, &node->launch, node->device);
    if (node->kind == FILL) memset(node->to, node->byte, node->bytes);
    if (node->kind == COPY) memcpy(node->to, node->from, node->bytes);
    if (node->kind != RECORD) return;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* what the worker did, however busy the machine */
    node->event->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    node->event->done = 1;
}

static void *work(void *unused) {
    pthread_mutex_lock(&lock);
    for (;;) {
        Node *node = queue.first;
        if (!node) {
            busy = 0;
            pthread_cond_broadcast(&changed);
            pthread_cond_wait(&changed, &lock);
            continue;
        }
        queue.first = node->next;
        if (!node->next) queue.last = NULL;
        busy = 1;
        pthread_mutex_unlock(&lock);
        if (!double_sticky) perform(node);
        free(node);
        pthread_mutex_lock(&lock);
    }
    return unused;
}

hipError_t double_submit(hipStream_t stream, Node node) {
    pthread_t thread;
    node.device = stream->device;
    if (stream->capturing) {
        double_append(stream->capturing, &node);
        return hipSuccess;
    }
    pthread_mutex_lock(&lock);
    if (!started && pthread_create(&thread, NULL, work, NULL)) abort();
    started = busy = 1;
    double_append(&queue, &node);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return hipSuccess;
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream) {
    READY();
    const void *device = kind == hipMemcpyHostToDevice ? to : from;
    if (stream->capturing || kind > hipMemcpyDeviceToHost || !double_holding(device, bytes))
        return hipErrorInvalidValue;
    return double_submit(stream, (Node){.kind = COPY, .to = to, .from = from, .bytes = bytes});
}

hipError_t hipMemsetAsync(void *to, int byte, size_t bytes, hipStream_t stream) {
    READY();
    Allocation *a = double_holding(to, bytes);
    if (!a || a->device != stream->device) return hipErrorInvalidValue;
    return double_submit(stream, (Node){.kind = FILL, .to = to, .byte = byte, .bytes = bytes});
}

static hipError_t enqueue(hipFunction_t f, const unsigned grid[3], const unsigned block[3],
                          unsigned lds, hipStream_t stream, void **params) {
    Node node = {.kind = LAUNCH, .function = f};
    size_t threads = (size_t)block[0] * block[1] * block[2];
    size_t blocks = (size_t)grid[0] * grid[1] * grid[2];
    if (!blocks || !threads || threads * blocks > UINT32_MAX) return hipErrorInvalidConfiguration;
    if (threads > f->max_threads || lds + f->lds > LDS) return hipErrorInvalidConfiguration;
    if (f->count && !params) return hipErrorInvalidValue;
    for (unsigned i = 0, word = 0; i < f->count; word += (f->sizes[i++] + 7) / 8) {
        if (!params[i]) return hipErrorInvalidValue;
        memcpy(&node.launch.args[word], params[i], f->sizes[i]);
    }
    memcpy(node.launch.grid, grid, sizeof node.launch.grid);
    memcpy(node.launch.block, block, sizeof node.launch.block);
    node.launch.lds_bytes = lds;
    return double_submit(stream, node);
}

hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
                                 unsigned bx, unsigned by, unsigned bz, unsigned lds,
                                 hipStream_t stream, void **params, void **extra) {
    READY();
    if (extra) return hipErrorInvalidValue;
    return enqueue(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, lds, stream, params);
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, hipFunction_t f,
                                                              int threads, size_t lds) {
    READY();
    int by_waves = 32 / ((threads + 63) / 64);
    int by_lds = f->lds + lds ? (int)(LDS / (f->lds + lds)) : by_waves;
    *blocks = by_waves < by_lds ? by_waves : by_lds;
    return hipSuccess;
}

hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
                                            unsigned bx, unsigned by, unsigned bz, unsigned lds,
                                            hipStream_t stream, void **params) {
    READY();
    int each = 0;
    hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&each, f, (int)(bx * by * bz), lds);
    if ((size_t)gx * gy * gz > (size_t)each * 304) return hipErrorCooperativeLaunchTooLarge;
    return enqueue(f, (unsigned[]){gx, gy, gz}, (unsigned[]){bx, by, bz}, lds, stream, params);
}

static void write_opened(const char *line) {
    const char *path = getenv("HIP_DOUBLE_OPENED");
    FILE *file = path ? fopen(path, "a") : NULL;
    if (!file) return;
    fputs(line, file);
    fclose(file);
}

hipError_t hipStreamCreate(hipStream_t *to) {
    READY();
    *to = calloc(1, sizeof **to);
    (*to)->device = double_current;
    write_opened("+\n");
    return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream) {
    write_opened("-\n");
    free(stream);
    return hipSuccess;
}

hipError_t hipStreamSynchronize(hipStream_t stream) {
    (void)stream; /* there is one worker */
    READY();
    pthread_mutex_lock(&lock);
    while (busy) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return double_sticky;
}

hipError_t hipEventCreate(hipEvent_t *to) {
    READY();
    *to = calloc(1, sizeof **to);
    return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event) {
    free(event);
    return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    READY();
    if (stream->capturing) return hipErrorStreamCaptureUnsupported;
    event->recorded = 1;
    event->done = 0;
    return double_submit(stream, (Node){.kind = RECORD, .event = event});
}

hipError_t hipEventQuery(hipEvent_t event) {
    READY();
    if (!event->recorded) return hipErrorInvalidHandle;
    pthread_mutex_lock(&lock);
    int done = event->done;
    pthread_mutex_unlock(&lock);
    return double_sticky ? double_sticky : done ? hipSuccess : hipErrorNotReady;
}

hipError_t hipEventElapsedTime(float *ms, hipEvent_t start, hipEvent_t stop) {
    READY();
    if (!start->recorded || !stop->recorded) return hipErrorInvalidHandle;
    if (!start->done || !stop->done) return hipErrorNotReady;
    *ms = (float)(stop->ms - start->ms);
    return hipSuccess;
}
