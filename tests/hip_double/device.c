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

int double_fault_due(const char *kind, const char *kernel) {
    static int seen_launch, seen_malloc;
    const char *wanted = getenv("HIP_DOUBLE_FAULT");
    size_t length = strlen(kind);
    if (!wanted || strncmp(wanted, kind, length) || wanted[length] != ':') return 0;
    const char *name = strchr(wanted + length + 1, ':');
    if (name && !strstr(kernel, name + 1)) return 0;
    int *seen = strcmp(kind, "out_of_memory") ? &seen_launch : &seen_malloc;
    return ++*seen == atoi(wanted + length + 1);
}

/* Keeps the devices that a list names, by number or uuid; it is cut at the first that is neither. */
static void keep(const char *list) {
    int before[MAX_DEVICES], count = visible, at, used;
    memcpy(before, double_physical, sizeof before);
    for (visible = 0; *list && visible < MAX_DEVICES; list += *list == ',') {
        if (sscanf(list, "GPU-%x%n", (unsigned *)&at, &used) == 1) {
            int uuid = at;
            for (at = 0; at < count && UUID + before[at] != uuid; at++);
        } else if (sscanf(list, "%d%n", &at, &used) != 1) {
            return;
        }
        list += used;
        if (at < 0 || at >= count || (*list && *list != ',')) return;
        double_physical[visible++] = before[at];
    }
}

/* As AMD's runtimes choose: ROCr by ROCR_VISIBLE_DEVICES, even an empty one; of what that leaves,
   HIP by HIP_VISIBLE_DEVICES or else by CUDA_VISIBLE_DEVICES, of which an empty one is none. */
static void find_devices(void) {
    if (visible >= 0) return;
    long count = double_setting("HIP_DOUBLE_DEVICES", 1);
    const char *rocr = getenv("ROCR_VISIBLE_DEVICES"), *list = getenv("HIP_VISIBLE_DEVICES");
    for (visible = 0; visible < count && visible < MAX_DEVICES; visible++)
        double_physical[visible] = visible;
    if (rocr) keep(rocr);
    if (!list || !*list) list = getenv("CUDA_VISIBLE_DEVICES");
    if (list && *list) keep(list);
}

/* Of a list with one number a device, the last of which holds for all after it. */
static long of_device(const char *name, int device, long otherwise) {
    const char *list = getenv(name);
    if (!list || !*list) return otherwise;
    for (const char *next; device-- > 0 && (next = strchr(list, ',')); list = next + 1);
    return strtol(list, NULL, 0);
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
    const char *name = getenv("HIP_DOUBLE_NAME");
    snprintf(found->name, sizeof found->name, "%s", name ? name : "HIP double of a GPU");
    strcpy(found->gcnArchName, "gfx942:sramecc+:xnack-");
    found->warpSize = 64;
    found->sharedMemPerBlock = LDS;
    found->maxThreadsPerBlock = 1024;
    found->multiProcessorCount = (int)of_device("HIP_DOUBLE_UNITS", double_physical[device], 304);
    found->pciDomainID = PCI_DOMAIN;
    found->pciBusID = double_physical[device] + 1;
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
    if (double_fault_due("out_of_memory", "")) return hipErrorOutOfMemory;
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

/* A module's variable is memory of the device, while the module is loaded. */
void double_lend(void *at, size_t bytes) {
    for (int i = 0; i < MAX_ALLOCATIONS && !double_holding(at, bytes); i++)
        if (!allocations[i].base)
            allocations[i] = (Allocation){.base = at, .bytes = bytes, .device = double_current};
}

void double_take_back(void *at) {
    for (int i = 0; i < MAX_ALLOCATIONS; i++)
        if (allocations[i].base == at) allocations[i].base = NULL;
}

hipError_t hipFree(void *at) {
    READY();
    Allocation *a = at ? double_holding(at, 1) : NULL;
    if (!at) return hipSuccess;
    if (!a || a->base != at) return hipErrorInvalidValue;
    hipError_t error = hipStreamSynchronize(NULL); /* as the real one waits for the device */
    if (error) return error;
    munmap(a->base + a->bytes - a->mapped - GUARD, a->mapped + 2 * GUARD);
    used[a->device] -= a->bytes;
    a->base = NULL;
    return hipSuccess;
}
