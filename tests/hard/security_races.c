/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program under ThreadSanitizer with the ordinary library: threads record, read and report at
 * once. It has no race of its own.
 */
#include <pthread.h>
#include <stdio.h>
#include <stint/stint.h>

#define THREADS 4
#define ROUNDS 2000

static stint_timer handle;

static void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; ++i) {
        char name[24];
        snprintf(name, sizeof name, "name %d", i % 60);
        REGISTER_TIMER("outer");
        REGISTER_TIMER_INFO("with info", "note");
        REGISTER_TIMER_DYNAMIC(name);
        REGISTER_GPU_TIMER("gpu", NULL);
        TIMER_BYTES(5);
        stint_scope_begin("named");
        stint_scope_end("named");
        stint_timer own;
        TIMER_BEGIN(own, "own");
        TIMER_END(own);
        if (i % 400 == 0) {
            stint_stat s;
            stint_stat_get("outer", &s, sizeof s);
        }
    }
    return NULL;
}

static void *work_briefly(void *unused) {
    (void)unused;
    REGISTER_TIMER("short");
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS], one;
    for (int i = 0; i < THREADS; ++i) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    TIMER_BEGIN(handle, "handle");
    for (int i = 0; i < 50; ++i) {
        pthread_create(&one, NULL, work_briefly, NULL);
        pthread_join(one, NULL);
        stint_step();
    }
    stint_report("table");
    stint_reset();
    stint_report("tree");
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(threads[i], NULL);
    }
    TIMER_END(handle);
    return stint_report_and_reset();
}
