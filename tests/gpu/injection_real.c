/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses a scope and then initialises CUDA by the real driver, with marks for strace:
 * files that are asked for and do not exist.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stint/stint.h"

static void mark(const char *name) {
    if (!access(name, F_OK)) {
        printf("%s exists\n", name);
    }
}

int main(int argc, char **argv) {
    int (*initialise)(unsigned) = NULL;
    { REGISTER_TIMER("before"); }
    stint_step();
    void *library = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        printf("no driver: %s\n", dlerror());
        return 77;
    }
    void *symbol = dlsym(library, "cuInit");
    memcpy(&initialise, &symbol, sizeof initialise);
    mark("/mark-of-cuInit");
    int code = initialise(0);
    mark("/mark-of-return");
    printf("cuInit %d\n", code);
    stint_step();
    return 0;
}
