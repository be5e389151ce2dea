/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_bench none|double|alone: what a GPU scope costs, in CPU time of the thread. none: without a
 * driver, as a multiple of a CPU scope. double: on the driver's double, as a multiple of the same
 * calls of the double made directly, whose number per scope is counted first; with a second thread,
 * as CUDA has threads of its own and glibc's locks cost less in a process with one. alone: without
 * that thread. The two are measured in turn, and of each the lowest round counts; no test, as it
 * depends on the machine.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_double.h"
#include "stint/stint.h"

#define SCOPES 50000
#define ROUNDS 41

static void *stream;

static double thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_cpu_scopes(void) {
    for (int i = 0; i < SCOPES; ++i) {
        REGISTER_TIMER("cpu");
    }
}

static void run_gpu_scopes(void) {
    for (int i = 0; i < SCOPES; ++i) {
        REGISTER_GPU_TIMER("gpu", stream);
    }
}

/* ---- The calls of a scope, made directly. */

typedef int call_1(void *);
typedef int call_2(void *, void *);
typedef int call_3(void *, void *, void *);

static struct {
    const char *name;   /* by which the double counts it */
    const char *symbol; /* NULL: its name */
    call_1 *one;
    call_2 *two;
    call_3 *three;
    uint64_t times; /* per scope */
} calls[] = {
    {.name = "cuCtxPushCurrent", .symbol = "cuCtxPushCurrent_v2"},
    {.name = "cuCtxPopCurrent", .symbol = "cuCtxPopCurrent_v2"},
    {.name = "cuCtxGetCurrent"},
    {.name = "cuCtxGetId"},
    {.name = "cuStreamGetCtx"},
    {.name = "cuStreamIsCapturing"},
    {.name = "cuThreadExchangeStreamCaptureMode"},
    {.name = "cuEventRecord"},
    {.name = "cuEventQuery"},
    {.name = "cuEventElapsedTime"},
};
#define CALLS (sizeof calls / sizeof *calls)

#define POP 1 /* made with the push before it */

/* Direct calls have a stream of their own: their records delay no scope. */
static void *event[2], *context, *bare_stream;

static void find_calls(void) {
    for (size_t i = 0; i < CALLS; ++i) {
        const char *name = calls[i].symbol ? calls[i].symbol : calls[i].name;
        void *symbol = dlsym(RTLD_DEFAULT, name);
        if (!symbol) {
            fprintf(stderr, "timer_bench: the double has no %s\n", calls[i].name);
            exit(1);
        }
        memcpy(&calls[i].one, &symbol, sizeof symbol);
        memcpy(&calls[i].two, &symbol, sizeof symbol);
        memcpy(&calls[i].three, &symbol, sizeof symbol);
    }
    int (*make)(void **, unsigned);
    void *symbol = dlsym(RTLD_DEFAULT, "cuEventCreate");
    memcpy(&make, &symbol, sizeof symbol);
    make(&event[0], 0);
    make(&event[1], 0);
}

static void count_calls(void) {
    uint64_t all = 0;
    double_calls_clear();
    run_gpu_scopes();
    for (size_t i = 0; i < CALLS; ++i) {
        uint64_t n = double_calls(calls[i].name);
        all += n;
        calls[i].times = (n + SCOPES / 2) / SCOPES;
        printf("%s: %.2f a scope\n", calls[i].name, (double)n / SCOPES);
    }
    printf("other calls: %.4f a scope\n", (double)(double_calls_all() - all) / SCOPES);
}

static void make_call(size_t i) {
    static union {
        void *pointer;
        unsigned long long id;
        int number;
        float ms;
    } out;
    static int mode = 2;
    static unsigned record, asked;
    switch (i) {
    case 0:
        calls[i].one(context);
        calls[1].one(&out);
        break;
    case 2:
        calls[i].one(&out);
        break;
    case 3: /* two with the context of the stream, one about the current context */
        calls[i].two(++asked % 3 ? context : NULL, &out);
        break;
    case 4:
    case 5:
        calls[i].two(bare_stream, &out);
        break;
    case 6:
        calls[i].one(&mode);
        break;
    case 7:
        calls[i].two(event[record++ % 2], bare_stream);
        break;
    case 8:
        calls[i].one(event[0]);
        break;
    default:
        calls[i].three(&out, event[0], event[1]);
        break;
    }
}

static void run_bare_calls(void) {
    for (int s = 0; s < SCOPES; ++s) {
        for (size_t i = 0; i < CALLS; ++i) {
            for (uint64_t n = 0; i != POP && n < calls[i].times; ++n) {
                make_call(i);
            }
        }
    }
}

static double measure_round(void (*run)(void)) {
    double begun = thread_ns();
    run();
    return (thread_ns() - begun) / SCOPES;
}

static void measure_both(const char *mode, void (*run_base)(void)) {
    double base = 0, gpu = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        double base_ns = measure_round(run_base);
        double gpu_ns = measure_round(run_gpu_scopes);
        if (!round || base_ns < base) {
            base = base_ns;
        }
        if (!round || gpu_ns < gpu) {
            gpu = gpu_ns;
        }
    }
    printf("%s: base %.1f ns, GPU scope %.1f ns, %.2f\n", mode, base, gpu, gpu / base);
}

static sem_t end;

static void *wait_for_end(void *unused) {
    sem_wait(&end);
    return unused;
}

static void measure_double(const char *mode) {
    double_tick(20);
    double_init();
    context = double_context_current();
    stream = double_stream_new(NULL);
    bare_stream = double_stream_new(NULL);
    find_calls();
    count_calls();
    measure_both(mode, run_bare_calls);
}

int main(int argc, char **argv) {
    const char *mode = argc == 2 ? argv[1] : "";
    if (!strcmp(mode, "none")) {
        measure_both(mode, run_cpu_scopes);
    } else if (!strcmp(mode, "double")) {
        pthread_t thread;
        sem_init(&end, 0, 0);
        if (pthread_create(&thread, NULL, wait_for_end, NULL)) {
            fprintf(stderr, "timer_bench: no thread\n");
            return 1;
        }
        measure_double(mode);
        sem_post(&end);
        pthread_join(thread, NULL);
    } else if (!strcmp(mode, "alone")) {
        measure_double(mode);
    } else {
        fprintf(stderr, "timer_bench none|double|alone, with STINT_CUDA_LIB\n");
        return 2;
    }
    return 0;
}
