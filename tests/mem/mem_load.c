/* SPDX-License-Identifier: Apache-2.0 */
/* Runs mem_new.cpp: mem_load WITH_FAILURES [MODULE]. With MEM_LINKED it is linked with that module,
 * else the program has no C++ until it loads MODULE. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef MEM_LINKED
extern void mem_new_run(int with_failures);
#endif

static void (*find_run(const char *file))(int) {
#ifdef MEM_LINKED
    (void)file;
    return mem_new_run;
#else
    void (*run)(int) = NULL;
    void *module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (module) {
        *(void **)&run = dlsym(module, "mem_new_run");
    }
    return run;
#endif
}

int main(int argc, char **argv) {
    void (*run)(int) = NULL;
    if (argc > 1) {
        run = find_run(argv[argc - 1]);
    }
    if (!run) {
        fprintf(stderr, "mem_load: no module\n");
        return 1;
    }
    run(atoi(argv[1]));
    return 0;
}
