/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program on the driver's double whose context goes before its GPU scopes were polled, and which
 * then ends. It prints what a report at exit is to show.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda_double.h"
#include "stint/stint.h"

#define NEVER ((uint64_t)1 << 50)

static void run_scopes(int count, uint64_t ns) {
    for (int i = 0; i < count; ++i) {
        REGISTER_GPU_TIMER("work", NULL);
        double_launch(NULL, ns);
    }
}

static void *run_thread(void *context) {
    double_context_make_current(context);
    run_scopes(5, NEVER);
    return NULL;
}

/* Does the same to the device's primary context as cudaDeviceReset. */
static void reset_device(void) {
    double_context_destroy(double_context_current());
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    double_init();
    if (!strcmp(how, "reset")) {
        run_scopes(5, NEVER);
        reset_device();
    } else if (!strcmp(how, "finished")) {
        run_scopes(5, 1000);
        double_advance(1000000);
        reset_device();
    } else if (!strcmp(how, "open")) {
        run_scopes(4, NEVER);
        REGISTER_GPU_TIMER("work", NULL);
        reset_device();
    } else if (!strcmp(how, "own")) {
        void *own = double_context_new(1);
        double_context_make_current(own);
        run_scopes(5, NEVER);
        double_context_destroy(own);
    } else if (!strcmp(how, "thread")) {
        pthread_t thread;
        pthread_create(&thread, NULL, run_thread, double_context_current());
        pthread_join(thread, NULL);
        reset_device();
    } else if (!strcmp(how, "again")) {
        run_scopes(5, NEVER);
        double_context_replace(double_context_current());
        run_scopes(3, 1000);
        double_advance(1000000);
    } else if (!strcmp(how, "shutdown")) {
        run_scopes(5, NEVER);
        double_shutdown();
    }
    printf("main ends\n");
    fflush(stdout);
    return 3;
}
