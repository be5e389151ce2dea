/* SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/print.h"

#ifdef STINT_STATIC

static const char module_anchor;
static char name[64]; /* "" = the program itself; written at load, only read after it */

/* Its path, NULL for the program itself. */
static const char *find_module_path(void) {
    Dl_info own, program;
    if (!dladdr(&module_anchor, &own) || !dladdr((void *)getauxval(AT_ENTRY), &program) ||
        own.dli_fbase == program.dli_fbase) {
        return NULL;
    }
    return own.dli_fname;
}

int module_name(char *out, size_t size) {
    print_text(out, size, "%s", name);
    return *out ? 0 : -1;
}

/* Before the module's other constructors. The loader is called here and never again: another thread
 * may hold its lock in a constructor that waits for a lock of this library. */
__attribute__((constructor(101))) static void module_keep_loaded(void) {
    const char *path = find_module_path();
    if (!path) {
        return;
    }
    (void)dlopen(path, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    const char *last = strrchr(path, '/');
    if (last) {
        path = last + 1;
    }
    snprintf(name, sizeof name, "%s", path);
}

#else

int module_name(char *out, size_t size) {
    (void)size;
    *out = '\0';
    return -1;
}

#endif
