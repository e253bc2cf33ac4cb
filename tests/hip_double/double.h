/* What the parts of the double share; see README.md. Built against AMD's own header. */
#ifndef HIP_DOUBLE_H
#define HIP_DOUBLE_H
#define _GNU_SOURCE
#include <hip/hip_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { MAX_DEVICES = 16, MAX_ALLOCATIONS = 4096, MAX_ENTRIES = 64, LDS = 65536, GUARD = 65536 };
/* The n-th device is PCI d0b1:n+1:00.0 (a domain that no machine has) and GPU-d0b1e00n. */
enum { PCI_DOMAIN = 0xd0b1, UUID = (int)0xd0b1e000 };

typedef struct {
    unsigned block[3];
    void (*run)(const KsLaunch *);
} Twin;

struct ihipModuleSymbol_t {
    char symbol[256];
    unsigned lds, max_threads, count, sizes[KS_MAX_ARGS], twins;
    Twin twin[MAX_ENTRIES];
};

struct Variable {
    char name[256];
    size_t offset, bytes;
};

struct ihipModule_t {
    struct ihipModuleSymbol_t *kernels;
    unsigned count;
    struct Variable variables[MAX_ENTRIES];
    unsigned variable_count;
    void *library;
    int copy; /* its descriptor */
};

/* What a stream does, in order, on the one worker thread; a graph is a list of it. */
typedef struct Node {
    enum { LAUNCH, FILL, COPY, RECORD } kind;
    int device;
    struct ihipModuleSymbol_t *function;
    KsLaunch launch;
    void *to;
    const void *from;
    int byte;
    size_t bytes;
    struct ihipEvent_t *event;
    struct Node *next;
} Node;

struct ihipGraph {
    Node *first, *last;
};
struct hipGraphExec {
    struct ihipGraph graph;
};
struct ihipStream_t {
    int device;
    struct ihipGraph *capturing;
};
struct ihipEvent_t {
    int recorded, done;
    double ms;
};

typedef struct {
    char *base;
    size_t bytes, mapped;
    int device;
} Allocation;

extern int double_current;                /* as hipSetDevice left it */
extern int double_physical[MAX_DEVICES];  /* of the visible ones */
extern volatile hipError_t double_sticky; /* a lost device stays lost */

hipError_t double_ready(void);
long double_setting(const char *name, long otherwise);
int double_fault_due(const char *kind, const char *kernel); /* now; counts the calls */
void double_append(struct ihipGraph *graph, const Node *what);
hipError_t double_submit(hipStream_t stream, Node node);
Allocation *double_holding(const void *at, size_t bytes);
void double_lend(void *at, size_t bytes);
void double_take_back(void *at);

#define READY()                      \
    do {                             \
        hipError_t error = double_ready();  \
        if (error) return error;     \
    } while (0)

#endif
