/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program without stint that initialises CUDA, as injection_program.c does.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_double.h"
#include "cupti_double.h"

int main(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    int (*initialise)(void) = NULL;
    double_init();
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library) {
        void *symbol = dlsym(library, "InitializeInjection");
        memcpy(&initialise, &symbol, sizeof initialise);
    }
    int result = initialise ? initialise() : -1;
    printf("other: the driver calls %s: %d, %d calls of CUPTI\n",
           initialise ? "stint" : "no library", result, (int)cupti_double_calls_all());
    return 0;
}
