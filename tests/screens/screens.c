/* SPDX-License-Identifier: Apache-2.0 */
/* screens NAME: runs that program; screens: the names. */
#include "screens.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "test_locale.h"

/* Replaces libc's function for the runtime's own calls: threads are numbered in the order in which
 * they ask. */
long syscall(long number, ...) {
    static __thread long tid;
    static long last = 4241;
    if (number != SYS_gettid) {
        errno = ENOSYS;
        return -1;
    }
    tid = tid ? tid : __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return tid;
}

/* The GPU back end of the screens, which replaces the one found on this machine (linked with
 * --wrap). */
static struct gpu_ops back_end;

const struct gpu_ops *__wrap_gpu_known(void);
const struct gpu_ops *__wrap_gpu_known(void) {
    return back_end.name ? &back_end : NULL;
}

const struct gpu_ops *__wrap_gpu_ops(void);
const struct gpu_ops *__wrap_gpu_ops(void) {
    return back_end.name ? &back_end : &gpu_none;
}

void use_gpu(void) {
    back_end = gpu_none;
    back_end.name = "driver";
    back_end.reason = NULL;
}

static void load(int step) {
    REGISTER_TIMER_INFO("load", step ? "batch=1.bin" : "batch=0.bin");
    fake_advance(step ? 2 * MS + 250 * US : 12 * MS + 503 * US);
}

static void forward(int step) {
    REGISTER_TIMER("forward");
    for (uint64_t i = 0; i < 40; ++i) {
        REGISTER_TIMER("matmul");
        fake_advance(800 * US + 1700 * i + (step ? 0 : 31));
    }
    for (int i = 0; i < 8; ++i) {
        REGISTER_TIMER("softmax");
        fake_advance(90 * US);
    }
    fake_advance(777 * US);
}

void training(void) {
    for (int step = 0; step < 2; ++step) {
        REGISTER_TIMER("step");
        load(step);
        forward(step);
        fake_advance(150 * US);
    }
    for (int i = 0; i < 1000; ++i) {
        timed("tick", 60);
    }
}

static void *start(void *work) {
    ((void (*)(void))(uintptr_t)work)();
    return NULL;
}

void on_a_thread(void (*work)(void)) {
    pthread_t thread;
    if (!pthread_create(&thread, NULL, start, (void *)(uintptr_t)work)) {
        pthread_join(thread, NULL);
    }
}

static sem_t worked;

static void *start_and_stay(void *work) {
    start(work);
    sem_post(&worked);
    for (;;) {
        pause();
    }
    return NULL;
}

void beside(void (*work)(void)) {
    pthread_t thread;
    sem_init(&worked, 0, 0);
    if (!pthread_create(&thread, NULL, start_and_stay, (void *)(uintptr_t)work)) {
        sem_wait(&worked);
    }
}

static const struct screen *const tables[] = {legacy_screens, table_screens,    tree_screens,
                                              gpu_screens,    activity_screens, fluid_screens};

int main(int argc, char **argv) {
    test_locale_take();
    for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t) {
        for (const struct screen *s = tables[t]; s->name; ++s) {
            if (argc < 2) {
                puts(s->name);
            } else if (!strcmp(s->name, argv[1])) {
                s->work();
                return 0;
            }
        }
    }
    return argc < 2 ? 0 : 2;
}
