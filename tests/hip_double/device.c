/* The double's devices, their properties and their memory. */
#include "double.h"

#include <sys/mman.h>

int double_physical[MAX_DEVICES], double_current;
volatile hipError_t double_sticky;
static int visible = -1;
static Allocation allocations[MAX_ALLOCATIONS];
static size_t used[MAX_DEVICES];

long double_setting(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int double_fault_due(const char *kind) {
    static int seen_launch, seen_malloc;
    const char *wanted = getenv("HIP_DOUBLE_FAULT");
    size_t length = strlen(kind);
    if (!wanted || strncmp(wanted, kind, length) || wanted[length] != ':') return 0;
    int *seen = strcmp(kind, "out_of_memory") ? &seen_launch : &seen_malloc;
    return ++*seen == atoi(wanted + length + 1);
}

/* HIP_VISIBLE_DEVICES as HIP reads it: a list of numbers, cut at the first that is not one. */
static void find_devices(void) {
    if (visible >= 0) return;
    long count = double_setting("HIP_DOUBLE_DEVICES", 1);
    const char *list = getenv("HIP_VISIBLE_DEVICES");
    visible = 0;
    if (!list) {
        for (; visible < count && visible < MAX_DEVICES; visible++) double_physical[visible] = visible;
        return;
    }
    while (*list && visible < MAX_DEVICES) {
        char *end;
        long number = strtol(list, &end, 10);
        if (end == list || number < 0 || number >= count) return;
        double_physical[visible++] = (int)number;
        list = *end == ',' ? end + 1 : end;
        if (*end && *end != ',') return;
    }
}

hipError_t double_ready(void) {
    find_devices();
    if (!visible) return hipErrorNoDevice;
    return double_sticky;
}
hipError_t hipGetDeviceCount(int *count) {
    find_devices();
    *count = visible;
    return visible ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipSetDevice(int device) {
    READY();
    if (device < 0 || device >= visible) return hipErrorInvalidDevice;
    double_current = device;
    return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *found, int device) {
    READY();
    if (device < 0 || device >= visible) return hipErrorInvalidDevice;
    memset(found, 0, sizeof *found);
    if (getenv("HIP_DOUBLE_ALIKE"))
        strcpy(found->name, "HIP double of MI300X");
    else
        snprintf(found->name, sizeof found->name, "HIP double of MI300X #%d",
                 double_physical[device]);
    strcpy(found->gcnArchName, "gfx942:sramecc+:xnack-");
    found->warpSize = 64;
    found->sharedMemPerBlock = LDS;
    found->maxThreadsPerBlock = 1024;
    found->multiProcessorCount = 304;
    found->l2CacheSize = 4 << 20;
    found->totalGlobalMem = (size_t)double_setting("HIP_DOUBLE_MEMORY", 1 << 30);
    return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int *version) {
    *version = (int)double_setting("HIP_DOUBLE_VERSION", 70253211);
    return hipSuccess;
}

const char *hipGetErrorString(hipError_t error) {
    return error == hipSuccess ? "no error" : "an error of the double";
}

/* Memory ends at a page that nothing may touch, so that overruns fault as they happen. */
hipError_t hipMalloc(void **to, size_t bytes) {
    READY();
    size_t page = 4096, held = (bytes + 255) / 256 * 256, span = (held + page - 1) / page * page;
    *to = NULL;
    if (double_fault_due("out_of_memory")) return hipErrorOutOfMemory;
    if (used[double_current] + held > (size_t)double_setting("HIP_DOUBLE_MEMORY", 1 << 30))
        return hipErrorOutOfMemory;
    for (int i = 0; i < MAX_ALLOCATIONS; i++) {
        Allocation *a = &allocations[i];
        if (a->base) continue;
        char *base = mmap(NULL, span + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (base == MAP_FAILED || mprotect(base + GUARD, span, PROT_READ | PROT_WRITE))
            return hipErrorOutOfMemory;
        *a = (Allocation){base + GUARD + span - held, held, span, double_current};
        used[double_current] += held;
        *to = a->base;
        return hipSuccess;
    }
    return hipErrorOutOfMemory;
}

Allocation *double_holding(const void *at, size_t bytes) {
    const char *p = at;
    for (int i = 0; i < MAX_ALLOCATIONS; i++) {
        Allocation *a = &allocations[i];
        if (a->base && p >= a->base && p + bytes <= a->base + a->bytes) return a;
    }
    return NULL;
}

hipError_t hipFree(void *at) {
    READY();
    Allocation *a = at ? double_holding(at, 1) : NULL;
    if (!at) return hipSuccess;
    if (!a || a->base != at) return hipErrorInvalidValue;
    munmap(a->base + a->bytes - a->mapped - GUARD, a->mapped + 2 * GUARD);
    used[a->device] -= a->bytes;
    a->base = NULL;
    return hipSuccess;
}
