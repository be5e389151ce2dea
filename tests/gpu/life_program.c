/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program on the driver's double whose context goes before its GPU scopes were polled, and which
 * then ends. It prints what a report at exit is to show. The double aborts where a destroyed
 * context or one of its events is used.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cuda_double.h"
#include "stint/stint.h"

#define NEVER ((uint64_t)1 << 50)

static void run_scopes(void *stream, int count, uint64_t ns) {
    for (int i = 0; i < count; ++i) {
        REGISTER_GPU_TIMER("work", stream);
        double_launch(stream, ns);
    }
}

static void *run_thread(void *context) {
    double_context_make_current(context);
    run_scopes(NULL, 5, NEVER);
    return NULL;
}

static void *destroy_context(void *context) {
    double_context_destroy(context);
    return NULL;
}

static void run_on_thread(void *(*function)(void *), void *argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, argument);
    pthread_join(thread, NULL);
}

/* As the first call of the runtime: the device's primary context becomes current. */
static void use_primary(void) {
    double_context_make_current(double_primary_use(0));
}

/* A context that the program made itself (cuCtxCreate). */
static void *use_own(void) {
    void *own = double_context_new(1);
    double_context_make_current(own);
    return own;
}

static void run_reset(void) {
    use_primary();
    run_scopes(NULL, 5, NEVER);
    double_primary_reset(0);
}

static void run_finished(void) {
    use_primary();
    run_scopes(double_stream_new(NULL), 5, 1000);
    double_advance(1000000);
    double_primary_reset(0);
}

static void run_open(void) {
    use_primary();
    run_scopes(NULL, 4, NEVER);
    REGISTER_GPU_TIMER("work", NULL);
    double_primary_reset(0);
}

static void run_release(void) {
    use_primary();
    run_scopes(NULL, 5, NEVER);
    double_primary_drop(0);
    double_context_make_current(NULL);
    stint_gpu_flush();
}

static void run_own(void) {
    void *own = use_own();
    run_scopes(NULL, 5, NEVER);
    double_context_destroy(own);
    stint_gpu_flush(); /* does not wait for what cannot be asked for */
}

static void run_own_of_other(void) {
    void *own = use_own();
    run_scopes(NULL, 5, NEVER);
    run_on_thread(destroy_context, own); /* it stays current here */
}

/* It still exists, which nothing tells. */
static void run_own_not_current(void) {
    use_own();
    run_scopes(NULL, 5, 1000);
    double_advance(1000000);
    double_context_make_current(NULL);
}

/* More of them than scopes may be in flight, and than contexts are known: their places are used
 * again. */
static void run_many(void) {
    for (int i = 0; i < 100; ++i) {
        void *own = use_own();
        run_scopes(double_stream_new(own), 30, NEVER);
        double_context_destroy(own);
    }
}

static void run_thread_reset(void) {
    use_primary();
    run_on_thread(run_thread, double_context_current());
    double_primary_reset(0);
}

static void run_again(void) {
    use_primary();
    run_scopes(NULL, 5, NEVER);
    double_primary_reset(0);
    use_primary(); /* at the same address */
    run_scopes(NULL, 3, 1000);
    double_advance(1000000);
}

static void run_elsewhere(void) {
    use_primary();
    run_scopes(double_stream_new(NULL), 5, NEVER);
    double_primary_reset(0);
    use_own();
    run_scopes(NULL, 3, 1000);
    double_advance(1000000);
}

static void run_shutdown(void) {
    use_primary();
    run_scopes(NULL, 5, NEVER);
    double_shutdown();
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {{"reset", run_reset},
                {"finished", run_finished},
                {"open", run_open},
                {"release", run_release},
                {"own", run_own},
                {"own_of_other", run_own_of_other},
                {"own_not_current", run_own_not_current},
                {"many", run_many},
                {"thread", run_thread_reset},
                {"again", run_again},
                {"elsewhere", run_elsewhere},
                {"shutdown", run_shutdown}};
    const char *how = argc > 1 ? argv[1] : "";
    double_init_without_context();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        if (!strcmp(how, ways[i].name)) {
            ways[i].run();
        }
    }
    printf("main ends\n");
    fflush(stdout);
    return 3;
}
