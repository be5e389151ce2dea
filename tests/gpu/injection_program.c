/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that links libstint.so and initialises CUDA late, as the doubles know it: "cuInit"
 * loads the library that CUDA_INJECTION64_PATH names and calls its InitializeInjection, as the
 * driver does (CUPTI's sample cupti_trace_injection).
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_double.h"
#include "cupti_double.h"
#include "stint/stint.h"

static const struct cupti_double_kernel kernel = {.name = "_Z3addPf", .ns = 5000};

static void say(const char *when) {
    printf("%s: %d calls of CUPTI, subscribed %d\n", when, (int)cupti_double_calls_all() != 0,
           cupti_double_subscribed());
    fflush(stdout);
}

static void initialise_cuda(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = NULL;
    int (*initialise)(void) = NULL;
    double_init();
    if (path) {
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (library) {
        void *symbol = dlsym(library, "InitializeInjection");
        memcpy(&initialise, &symbol, sizeof initialise);
    }
    printf("the driver calls %s\n", initialise ? "stint" : "no library");
    fflush(stdout);
    if (initialise) {
        initialise();
    }
}

static void use_cuda(void) {
    initialise_cuda();
    {
        REGISTER_TIMER("train");
        say("in a scope");
        cupti_double_launch(&kernel);
        cupti_double_wait(CUPTI_DOUBLE_ALL, 0, 0);
    }
    stint_gpu_flush();
    stint_report("gpu");
}

int main(int argc, char **argv) {
    { REGISTER_TIMER("before"); }
    say("main");
    if (argc > 2 && !strcmp(argv[1], "start")) { /* another program */
        return system(argv[2]) != 0;
    }
    if (argc > 1 && !strcmp(argv[1], "fork")) {
        pid_t child = fork();
        if (child) {
            int status = -1;
            waitpid(child, &status, 0);
            say("parent");
            return status != 0;
        }
    }
    use_cuda();
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "list")) {
        return system("env") != 0;
    }
    return 0;
}
