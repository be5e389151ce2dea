/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the CUPTI library at run time and looks its functions up (cupti_table.inc, generated); and
 * its versions and result codes in words.
 */
#include "cupti_private.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct cupti_symbol {
    const char *name;
    size_t offset;
    int required;
};

struct cupti_words {
    int code;
    const char *name;
    const char *words;
};

struct cupti_toolkit {
    uint32_t version;
    const char *toolkit;
};

#include "cupti_table.inc"

_Static_assert(sizeof cupti_kinds / sizeof *cupti_kinds == CUPTI_KINDS, "CUPTI_KINDS");
const struct cupti_kind *const cupti_kind_table = cupti_kinds;

#define OLDEST 16          /* CUDA 11.5; older ones were not checked */
#define BY_TOOLKIT 100000u /* from 13.0 on a version is the toolkit's, xxyyzz */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The newest first; then the toolkit's folders, if the dynamic linker does not search them. */
static const char *const libraries[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "libcupti.so.11.8",
    "libcupti.so.11.7",
    "libcupti.so.11.6",
    "libcupti.so.11.5",
    "/usr/local/cuda/lib64/libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
};

/* Each name is tried twice: a library that the program has loaded already has precedence, as it
 * fits the program's CUDA. So does, after those, one that was installed beside its CUDA. */
#define CANDIDATES (2 * COUNT(libraries) + 1)

static void *library_open(const char *name, char reason[CUPTI_REASON]) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *error = dlerror();
        snprintf(reason, CUPTI_REASON, "%.230s", error ? error : name);
    }
    return library;
}

/* ---- The library of a wheel: pip installs CUDA's libraries into folders of a package each,
 *   <site-packages>/nvidia/cuda_runtime/lib/libcudart.so.12, nvidia/cuda_cupti/lib/libcupti.so.12
 *   <site-packages>/nvidia/cu13/lib/libcudart.so.13, nvidia/cu13/lib/libcupti.so.13
 * so it is found beside a library of CUDA's that the program has loaded. */

static const char *const wheel_neighbours[] = {"/libcudart.so.", "/libcublas.so.", "/libcudnn.so.",
                                               "/libnvrtc.so.", "/libnccl.so."};
static const char *const wheel_folders[] = {"", "/../../cuda_cupti/lib"};
static const char *const wheel_files[] = {"/libcupti.so.13", "/libcupti.so.12"};

#define WHEEL_PATH 1024u /* longer ones are not looked at, for the stack's sake */

struct wheel {
    char path[WHEEL_PATH]; /* the library; "": not found */
};

static int wheel_is_neighbour(const char *file) {
    for (size_t i = 0; i < COUNT(wheel_neighbours); ++i) {
        if (strstr(file, wheel_neighbours[i])) {
            return 1;
        }
    }
    return 0;
}

/* Called for each library that is loaded; returns 1 at the first that has CUPTI beside it. */
static int wheel_look_beside(struct dl_phdr_info *info, size_t size, void *data) {
    struct wheel *w = data;
    (void)size;
    const char *end = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (!end || !wheel_is_neighbour(info->dlpi_name)) {
        return 0;
    }
    for (size_t i = 0; i < COUNT(wheel_folders) * COUNT(wheel_files); ++i) {
        int n = snprintf(w->path, sizeof w->path, "%.*s%s%s", (int)(end - info->dlpi_name),
                         info->dlpi_name, wheel_folders[i % COUNT(wheel_folders)],
                         wheel_files[i / COUNT(wheel_folders)]);
        if (n > 0 && (size_t)n < sizeof w->path && !access(w->path, R_OK)) {
            return 1;
        }
    }
    w->path[0] = '\0';
    return 0;
}

static void *wheel_open(void) {
    struct wheel w = {""};
    dl_iterate_phdr(wheel_look_beside, &w);
    return w.path[0] ? dlopen(w.path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void *library_open_candidate(unsigned number) {
    if (number == COUNT(libraries)) {
        return wheel_open();
    }
    if (number < COUNT(libraries)) {
        return dlopen(libraries[number], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    }
    return dlopen(libraries[number - COUNT(libraries) - 1], RTLD_NOW | RTLD_LOCAL);
}

static int library_find_symbols(void *library, struct cupti *out, char reason[CUPTI_REASON]) {
    for (size_t i = 0; i < COUNT(cupti_symbols); ++i) {
        const struct cupti_symbol *s = &cupti_symbols[i];
        void *symbol = dlsym(library, s->name);
        if (!symbol && s->required) {
            snprintf(reason, CUPTI_REASON, "this CUPTI lacks %s: CUDA 11.5 or later is needed",
                     s->name);
            return -1;
        }
        memcpy((char *)out + s->offset, &symbol, sizeof symbol);
    }
    return 0;
}

/* 0, or -1 with the reason. */
static int library_read(void *library, struct cupti *out, uint32_t *version,
                        char reason[CUPTI_REASON]) {
    if (library_find_symbols(library, out, reason)) {
        return -1;
    }
    int code = out->cuptiGetVersion(version);
    if (code) { /* CUPTI 13.5 answers no call without a driver */
        cupti_describe_failure(out, 0, "cuptiGetVersion", code, reason);
        return -1;
    }
    if (*version < OLDEST) {
        snprintf(reason, CUPTI_REASON,
                 "this CUPTI is too old (version %u): CUDA 11.5 or later is needed", *version);
        return -1;
    }
    return 0;
}

int cupti_load_library(const char *library, struct cupti *out, uint32_t *version,
                       char reason[CUPTI_REASON]) {
    int result = -1;
    void *opened = library_open(library, reason);
    if (opened) {
        result = library_read(opened, out, version, reason);
    }
    dlerror(); /* the program's next dlerror() must not report these */
    return result;
}

int cupti_load_next(struct cupti_search *search, struct cupti *out, uint32_t *version,
                    char reason[CUPTI_REASON]) {
    int result = -1;
    reason[0] = '\0';
    while (result && search->next < CANDIDATES) {
        char refused[CUPTI_REASON];
        void *opened = library_open_candidate(search->next++);
        if (!opened || opened == search->last) {
            continue;
        }
        search->last = opened;
        result = library_read(opened, out, version, refused);
        if (result && !reason[0]) {
            snprintf(reason, CUPTI_REASON, "%s", refused);
        }
    }
    if (result && !reason[0]) {
        snprintf(reason, CUPTI_REASON,
                 "no " CUPTI_LIBRARIES "; LD_LIBRARY_PATH or STINT_CUPTI_LIB can say where");
    }
    dlerror();
    return result;
}

void cupti_describe_toolkit(uint32_t version, char *out, size_t size) {
    const char *toolkit = NULL;
    for (size_t i = 0; i < COUNT(cupti_toolkits); ++i) {
        if (cupti_toolkits[i].version == version) {
            toolkit = cupti_toolkits[i].toolkit;
        }
    }
    if (toolkit) {
        snprintf(out, size, "%s", toolkit);
    } else if (version >= BY_TOOLKIT) {
        snprintf(out, size, "%u.%u", version / 10000, version / 100 % 100);
    } else {
        snprintf(out, size, "version %u", version);
    }
}

void cupti_describe_code(const struct cupti *c, int code, char *out, size_t size) {
    const char *name = NULL;
    for (size_t i = 0; i < COUNT(cupti_codes); ++i) {
        if (cupti_codes[i].code == code) {
            name = cupti_codes[i].words;
            if (!name) {
                name = cupti_codes[i].name;
            }
        }
    }
    if (!name && (!c->cuptiGetResultString || c->cuptiGetResultString(code, &name))) {
        name = NULL;
    }
    if (name) {
        snprintf(out, size, "%s", name);
    } else {
        snprintf(out, size, "error %d", code);
    }
}
