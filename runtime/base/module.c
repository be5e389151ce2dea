/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#ifdef STINT_STATIC

static const char here;

/* Its path, NULL for the program itself. */
static const char *path(void) {
    Dl_info own, program;
    if (!dladdr(&here, &own) || !dladdr((void *)getauxval(AT_ENTRY), &program) ||
        own.dli_fbase == program.dli_fbase) {
        return NULL;
    }
    return own.dli_fname;
}

int module_name(char *out, size_t size) {
    const char *whole = path();
    const char *last = whole ? strrchr(whole, '/') : NULL;
    snprintf(out, size, "%s", last ? last + 1 : whole ? whole : "");
    return *out ? 0 : -1;
}

void module_stay(void) {
    const char *whole = path();
    if (whole) {
        (void)dlopen(whole, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

#else

int module_name(char *out, size_t size) {
    (void)size;
    *out = '\0';
    return -1;
}

void module_stay(void) {
}

#endif
