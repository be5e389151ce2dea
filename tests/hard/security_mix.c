/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose files are built with and without a sanitizer, on one runtime without: both halves
 * of one scope tree, in threads. Prints calls of either half. -DMIX_OTHER makes the second file.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <stint/stint.h>

#define ROUNDS 1000
#define THREADS 4

void other(int depth);

#ifdef MIX_OTHER

void plain(int depth);

void other(int depth) {
    REGISTER_TIMER("other");
    if (depth) {
        plain(depth - 1);
    }
}

#else

void plain(int depth);

void plain(int depth) {
    REGISTER_TIMER("plain");
    char *block = malloc(16);
    REGISTER_TIMER_INFO("inner", "info");
    if (depth) {
        other(depth - 1);
    }
    free(block);
}

static void *work(void *unused) {
    for (int i = 0; i < ROUNDS; ++i) {
        plain(3);
    }
    return unused;
}

int main(void) {
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        pthread_create(&thread[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(thread[i], NULL);
    }
    stint_stat a, b;
    if (stint_stat_get("plain", &a, sizeof a) || stint_stat_get("other", &b, sizeof b)) {
        return 1;
    }
    printf("%llu %llu\n", (unsigned long long)a.calls, (unsigned long long)b.calls);
    return a.calls == 2 * ROUNDS * THREADS && b.calls == a.calls ? 0 : 1;
}

#endif
