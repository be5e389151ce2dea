/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_device [init]: scopes and ranges of a program on a machine without a GPU; with init, after it
 * has tried to initialise CUDA by the library that STINT_CUDA_LIB names.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stint/stint.h"

static int cuda_init(void) {
    int (*init)(unsigned);
    void *library = dlopen(getenv("STINT_CUDA_LIB"), RTLD_NOW);
    void *symbol = library ? dlsym(library, "cuInit") : NULL;
    if (!symbol) {
        fprintf(stderr, "no_device: %s\n", dlerror());
        exit(1);
    }
    memcpy(&init, &symbol, sizeof init);
    return init(0);
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "init")) {
        printf("cuInit: %d\n", cuda_init());
    }
    {
        REGISTER_GPU_PROFILER("range");
        for (int i = 0; i < 1000; ++i) {
            REGISTER_GPU_TIMER("scope", NULL);
        }
    }
    stint_gpu_flush();
    stint_stat s;
    if (stint_stat_get("scope", &s, sizeof s)) {
        return 1;
    }
    printf("calls: %llu, of the GPU: %llu\n", (unsigned long long)s.calls,
           (unsigned long long)s.gpu_calls);
    return stint_report("table");
}
