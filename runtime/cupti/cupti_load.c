/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

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

#define OLDEST 17          /* CUDA 11.6: the first that takes a clock of ours */
#define BY_TOOLKIT 100000u /* from 13.0 on a version is the toolkit's, xxyyzz */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The newest first; then where the toolkit has it, if nobody told the dynamic linker. */
static const char *const libraries[] = {
    "libcupti.so.13",
    "libcupti.so.12",
    "libcupti.so.11.8",
    "libcupti.so.11.7",
    "libcupti.so.11.6",
    "/usr/local/cuda/lib64/libcupti.so",
    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
};

/* One that the program has already is the one that fits. */
static void *open_any(void) {
    void *library = NULL;
    for (size_t i = 0; i < COUNT(libraries) && !library; ++i) {
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    }
    for (size_t i = 0; i < COUNT(libraries) && !library; ++i) {
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static void *open_library(const char *name, char reason[CUPTI_REASON]) {
    void *library = name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : open_any();
    const char *error = library ? NULL : dlerror();
    if (!library && name) {
        snprintf(reason, CUPTI_REASON, "%.230s", error ? error : name);
    } else if (!library) {
        snprintf(reason, CUPTI_REASON,
                 "no " CUPTI_LIBRARIES "; LD_LIBRARY_PATH or STINT_CUPTI_LIB can say where");
    }
    return library;
}

static int find_symbols(void *library, struct cupti *out, char reason[CUPTI_REASON]) {
    for (size_t i = 0; i < COUNT(cupti_symbols); ++i) {
        const struct cupti_symbol *s = &cupti_symbols[i];
        void *symbol = dlsym(library, s->name);
        if (!symbol && s->required) {
            snprintf(reason, CUPTI_REASON, "this CUPTI lacks %s: CUDA 11.6 or later is needed",
                     s->name);
            return -1;
        }
        memcpy((char *)out + s->offset, &symbol, sizeof symbol);
    }
    return 0;
}

int cupti_load(const char *library, struct cupti *out, uint32_t *version,
               char reason[CUPTI_REASON]) {
    int result = -1;
    void *opened = open_library(library, reason);
    if (opened && !find_symbols(opened, out, reason)) {
        int code = out->cuptiGetVersion(version);
        if (code || *version < OLDEST) {
            snprintf(reason, CUPTI_REASON,
                     "this CUPTI is too old (version %u): CUDA 11.6 or later is needed",
                     code ? 0 : *version);
        } else {
            result = 0;
        }
    }
    dlerror(); /* the program's next dlerror() is not to be about ours */
    return result;
}

void cupti_toolkit(uint32_t version, char *out, size_t size) {
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

void cupti_say_code(const struct cupti *c, int code, char *out, size_t size) {
    const char *name = NULL;
    for (size_t i = 0; i < COUNT(cupti_codes); ++i) {
        if (cupti_codes[i].code == code) {
            name = cupti_codes[i].words ? cupti_codes[i].words : cupti_codes[i].name;
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
