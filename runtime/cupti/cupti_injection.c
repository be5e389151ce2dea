/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver's way to tell a library that the program initialises CUDA: cuInit loads the
 * library that CUDA_INJECTION64_PATH names and calls its function InitializeInjection, in which
 * CUPTI may be subscribed (CUPTI's sample cupti_trace_injection).
 *
 * The variable is this process's own. Programs that it starts inherit it until CUDA was initialised
 * here; then it is taken out. A program that inherited it and is not linked to this library gets it
 * loaded by the driver, and nothing else: the path has a mark, by which such a library knows.
 */
#include "cupti_private.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/api.h"
#include "base/errno_keep.h"
#include "capture/tracer.h"

#ifdef STINT_STATIC
/* The driver can load a shared library only. */
int cupti_prepare_injection(void) {
    return 0;
}
#else

#define VARIABLE "CUDA_INJECTION64_PATH"
#define MARK "/./" /* before the file's name: the variable was set here, and not by the user */

/* The entry in the environment; static, as putenv keeps it. "": there is none. */
static char injection_entry[sizeof VARIABLE + PATH_MAX + sizeof MARK];
static int injection_is_ours; /* this process has set it; relaxed */

static int injection_is_inherited(const char *path) {
    return path && strstr(path, MARK) && !__atomic_load_n(&injection_is_ours, __ATOMIC_RELAXED);
}

/* Changes a byte of the name, so that it is another variable: unsetenv is not thread-safe, and the
 * program has threads by now. */
static void injection_take_out(void) {
    if (__atomic_load_n(&injection_is_ours, __ATOMIC_RELAXED)) {
        __atomic_store_n(&injection_entry[0], '_', __ATOMIC_RELAXED);
    }
}

/* Called by the CUDA driver. Returns 1 for success. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void) {
    ERRNO_KEEP;
    if (!injection_is_inherited(secure_getenv(VARIABLE))) {
        injection_take_out();
        tracer_look(1);
    }
    return 1;
}

/* The folder has a link to it and one in itself, and one in each thread's folder. */
static int process_has_one_thread(void) {
    struct stat tasks;
    return !stat("/proc/self/task", &tasks) && tasks.st_nlink == 3;
}

static int injection_find_self(const void *symbol, Dl_info *out) {
    return symbol && dladdr(symbol, out) && out->dli_fname;
}

/* Whether the program is linked to this library, which is then found in the program's scope. The
 * driver loads it into a scope of its own. (RTLD_DEFAULT would find it there, too.) */
static int injection_is_linked(const Dl_info *self) {
    Dl_info found = {0};
    void *program = dlopen(NULL, RTLD_LAZY);
    if (!program) {
        return 0;
    }
    int is_there = injection_find_self(dlsym(program, "stint_version"), &found);
    dlclose(program);
    dlerror(); /* the program's next dlerror() must not report this */
    return is_there && found.dli_fbase == self->dli_fbase;
}

static void injection_set_path(const char *file) {
    char *path = realpath(file, NULL);
    const char *name = path ? strrchr(path, '/') : NULL;
    if (name && strlen(path) < PATH_MAX) {
        snprintf(injection_entry, sizeof injection_entry, VARIABLE "=%.*s" MARK "%s",
                 (int)(name - path), path, name + 1);
        __atomic_store_n(&injection_is_ours, !putenv(injection_entry), __ATOMIC_RELAXED);
    }
    free(path);
}

int cupti_prepare_injection(void) {
    ERRNO_KEEP;
    Dl_info self;
    const char *has = secure_getenv(VARIABLE);
    int is_inherited = injection_is_inherited(has);
    if (!injection_find_self((const void *)(uintptr_t)InitializeInjection, &self)) {
        return 0;
    }
    if (is_inherited && !injection_is_linked(&self)) {
        return -1;
    }
    if ((!has || is_inherited) && !injection_entry[0] && process_has_one_thread()) {
        injection_set_path(self.dli_fname);
    }
    return 0;
}
#endif
