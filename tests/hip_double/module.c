/* The double's modules: a code object's kernels, run by their cpu twins. */
#include "double.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

/* A module is what the twin's folder says of the code object with that hash (FNV-1a, 64 bits). */
static uint64_t hash_of(const unsigned char *elf) {
    uint64_t sections, hash = 1469598103934665603ull;
    uint16_t entry, count;
    memcpy(&sections, elf + 0x28, 8);
    memcpy(&entry, elf + 0x3A, 2);
    memcpy(&count, elf + 0x3C, 2);
    for (uint64_t i = 0; i < sections + (uint64_t)entry * count; i++)
        hash = (hash ^ elf[i]) * 1099511628211ull;
    return hash;
}

/* A copy of the library, so that every module has variables of its own. */
static void *load_copy(const char *path, int *kept) {
    static char piece[1 << 16];
    char name[64];
    size_t got;
    FILE *file = fopen(path, "rb");
    int copy = memfd_create("twin", 0);
    if (!file || copy < 0) return NULL;
    while ((got = fread(piece, 1, sizeof piece, file)) > 0)
        if (write(copy, piece, got) != (ssize_t)got) return NULL;
    fclose(file);
    dlopen("libm.so.6", RTLD_NOW | RTLD_GLOBAL); /* a twin's undefined symbols */
    snprintf(name, sizeof name, "/proc/self/fd/%d", copy);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    *kept = copy; /* the loader knows a library by its name: this one's must stay unique */
    return library;
}

static hipError_t read_twins(FILE *file, const char *folder, struct ihipModule_t *module) {
    char word[16], name[512], path[1024];
    struct ihipModuleSymbol_t *k = NULL;
    while (fscanf(file, "%15s", word) == 1) {
        if (!strcmp(word, "kernel")) {
            k = &module->kernels[module->count++];
            if (fscanf(file, "%255s %u %u %u", k->symbol, &k->lds, &k->max_threads, &k->count) != 4)
                return hipErrorInvalidImage;
            for (unsigned i = 0; i < k->count; i++)
                if (fscanf(file, "%u", &k->sizes[i]) != 1) return hipErrorInvalidImage;
        } else if (!strcmp(word, "variable")) { /* its place in the library */
            struct Variable *v = &module->variables[module->variable_count];
            if (fscanf(file, "%255s %zu %zu", v->name, &v->offset, &v->bytes) != 3)
                return hipErrorInvalidImage;
            if (module->variable_count < MAX_ENTRIES - 1) module->variable_count++;
        } else if (!strcmp(word, "library")) {
            if (fscanf(file, "%511s", name) != 1) return hipErrorInvalidImage;
            snprintf(path, sizeof path, "%s/%s", folder, name);
            module->library = load_copy(path, &module->copy);
            if (!module->library) return hipErrorSharedObjectInitFailed;
        } else if (k && module->library && k->twins < MAX_ENTRIES) { /* entry */
            Twin *t = &k->twin[k->twins++];
            if (fscanf(file, "%u %u %u %511s", &t->block[0], &t->block[1], &t->block[2], name) != 4)
                return hipErrorInvalidImage;
            t->run = (void (*)(const KsLaunch *))(uintptr_t)dlsym(module->library, name);
            if (!t->run) return hipErrorSharedObjectSymbolNotFound;
        }
    }
    return hipSuccess;
}

hipError_t hipModuleLoadData(hipModule_t *to, const void *image) {
    READY();
    const unsigned char *elf = image;
    const char *folder = getenv("HIP_DOUBLE_TWINS");
    char path[1024];
    uint32_t flags;
    *to = NULL;
    if (memcmp(elf, "\177ELF", 4) || elf[18] != 224) return hipErrorInvalidImage; /* EM_AMDGPU */
    memcpy(&flags, elf + 0x30, 4);
    if ((flags & 0xff) != 0x4c) return hipErrorNoBinaryForGpu; /* EF_AMDGPU_MACH gfx942 */
    snprintf(path, sizeof path, "%s/%016llx", folder ? folder : "",
             (unsigned long long)hash_of(elf));
    FILE *file = fopen(path, "r");
    if (!file) return hipErrorFileNotFound;
    struct ihipModule_t *module = calloc(1, sizeof *module);
    module->kernels = calloc(MAX_ENTRIES, sizeof *module->kernels);
    hipError_t error = read_twins(file, folder, module);
    fclose(file);
    if (!error) *to = module;
    return error;
}

hipError_t hipModuleUnload(hipModule_t module) {
    READY();
    struct link_map *loaded;
    if (module->library && !dlinfo(module->library, RTLD_DI_LINKMAP, &loaded))
        for (unsigned i = 0; i < module->variable_count; i++)
            double_take_back((char *)loaded->l_addr + module->variables[i].offset);
    if (module->library) dlclose(module->library);
    if (module->library) close(module->copy);
    free(module->kernels);
    free(module);
    return hipSuccess;
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t *to, size_t *bytes, hipModule_t module,
                              const char *name) {
    READY();
    struct link_map *loaded;
    if (!module->library || dlinfo(module->library, RTLD_DI_LINKMAP, &loaded))
        return hipErrorNotFound;
    for (unsigned i = 0; i < module->variable_count; i++)
        if (!strcmp(module->variables[i].name, name)) {
            *to = (void *)(loaded->l_addr + module->variables[i].offset);
            *bytes = module->variables[i].bytes;
            double_lend(*to, *bytes);
            return hipSuccess;
        }
    return hipErrorNotFound;
}

hipError_t hipModuleGetFunction(hipFunction_t *to, hipModule_t module, const char *name) {
    READY();
    for (unsigned i = 0; i < module->count; i++)
        if (!strcmp(module->kernels[i].symbol, name)) {
            *to = &module->kernels[i];
            return hipSuccess;
        }
    return hipErrorNotFound;
}
