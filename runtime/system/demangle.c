/* SPDX-License-Identifier: Apache-2.0 */
#include "demangle.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/errno_keep.h"

/* A function of the C++ ABI, the same in every C++ library. Returns NULL for a name that is not
 * mangled. */
typedef char *demangler(const char *mangled, char *buffer, size_t *size, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static demangler *cxx_demangler;

static void find_demangler(void) {
    void *at = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!at) { /* a C program, or one whose C++ part was loaded with RTLD_LOCAL */
        void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
        if (library) {
            at = dlsym(library, "__cxa_demangle");
        }
    }
    memcpy(&cxx_demangler, &at,
           sizeof cxx_demangler); /* ISO C has no cast from an object to a function */
}

int demangle(char *out, size_t size, const char *mangled) {
    ERRNO_KEEP;
    int status = 0;
    if (!size || strncmp(mangled, "_Z", 2)) { /* it would take "i" for the type int */
        return -1;
    }
    pthread_once(&once, find_demangler);
    if (!cxx_demangler) {
        return -1;
    }
    char *name = cxx_demangler(mangled, NULL, NULL, &status);
    if (!name) {
        return -1;
    }
    size_t length = strnlen(name, size - 1);
    memcpy(out, name, length);
    out[length] = '\0';
    free(name);
    return 0;
}
