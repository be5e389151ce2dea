/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program under STINT_GPU=cupti that ends in the way it is told; the handler that it registered
 * before its first launch, as the driver does, says how far things are by then.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/tracer.h"
#include "cupti_double.h"
#include "fake_clock.h"
#include "stint/stint.h"

static const struct cupti_double_kernel kernel = {.name = "_Z1kv", .stream = 7, .ns = 5000};

static void driver_goes(void) {
    char text[300];
    uint64_t calls = cupti_double_calls_all();
    tracer_describe(text, sizeof text);
    printf("driver goes: %s; on %d, subscribed %d\n", text, tracer_is_on(),
           cupti_double_subscribed());
    tracer_flush(1);
    printf("start again: %d\n", tracer_start());
    printf("calls after: %d\n", (int)(cupti_double_calls_all() - calls));
    fflush(stdout);
}

static void train(void) {
    REGISTER_TIMER("train");
    for (int i = 0; i < 3; ++i) {
        cupti_double_launch(&kernel);
    }
}

static void child(void) {
    char text[300];
    uint64_t calls = cupti_double_calls_all();
    train();
    tracer_flush(1);
    int started = tracer_start();
    tracer_describe(text, sizeof text);
    printf("child: start %d, on %d, calls %d, \"%s\"\n", started, tracer_is_on(),
           (int)(cupti_double_calls_all() - calls), text);
    fflush(stdout);
}

/* Loads CUDA's libraries by their paths, before any code of stint runs, as programs do that pip
 * installed. */
__attribute__((constructor(101))) static void load_wheel(void) {
    const char *library = getenv("CUPTI_PROGRAM_WHEEL");
    if (library && !dlopen(library, RTLD_NOW | RTLD_GLOBAL)) {
        printf("%s\n", dlerror());
    }
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    cupti_double_clock(fake_advance, fake_read);
    printf("main: on %d, subscribed %d\n", tracer_is_on(), cupti_double_subscribed());
    fflush(stdout);
    atexit(driver_goes);
    if (strcmp(how, "idle")) {
        train();
    }
    if (!strcmp(how, "fork")) {
        pid_t pid = fork();
        if (!pid) {
            child();
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
    if (!strcmp(how, "wait")) {
        cupti_double_wait(CUPTI_DOUBLE_ALL, 0, 0);
    }
    fake_advance(1000);
    return 0;
}
