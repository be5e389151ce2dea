/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver's way to tell a library that the program initialises CUDA: cuInit loads the
 * library that CUDA_INJECTION64_PATH names and calls its function InitializeInjection, in which
 * CUPTI may be subscribed (CUPTI's sample cupti_trace_injection).
 */
#include "cupti_private.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "activity/tracer.h"
#include "base/api.h"
#include "base/errno_keep.h"

#ifdef STINT_STATIC
/* The driver can load a shared library only. */
void cupti_prepare_injection(void) {
}
#else

#define VARIABLE "CUDA_INJECTION64_PATH"

/* Called by the CUDA driver. Returns 1 for success. */
__attribute__((visibility("default"))) int InitializeInjection(void);
int InitializeInjection(void) {
    ERRNO_KEEP;
    tracer_look(1);
    return 1;
}

/* The folder has a link to it and one in itself, and one in each thread's folder. */
static int process_has_one_thread(void) {
    struct stat tasks;
    return !stat("/proc/self/task", &tasks) && tasks.st_nlink == 3;
}

static void injection_set_path(void) {
    Dl_info self;
    char *path = NULL;
    if (dladdr((const void *)(uintptr_t)InitializeInjection, &self) && self.dli_fname) {
        path = realpath(self.dli_fname, NULL);
    }
    if (path) {
        setenv(VARIABLE, path, 0);
    }
    free(path);
}

void cupti_prepare_injection(void) {
    ERRNO_KEEP;
    if (!secure_getenv(VARIABLE) && process_has_one_thread()) {
        injection_set_path();
    }
}
#endif
