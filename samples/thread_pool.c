/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts are handed out one by one under the lock, so a thread that wakes late finds the work done
 * by the others instead of keeping them waiting.
 */
#define _POSIX_C_SOURCE 200809L
#include "thread_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <stint/stint.h>

struct thread_pool {
    pthread_mutex_t lock; /* guards `task` to `ending` */
    pthread_cond_t wake;  /* there is a job, or the pool ends */
    pthread_cond_t done;  /* no part is running any more */
    thread_pool_task task;
    void *argument;
    stint_sender sender;
    int parts;
    int next;
    int running;
    int ending;
    int workers; /* besides the caller; only the creator uses it */
    pthread_t worker[];
};

static void run_parts_locked(struct thread_pool *pool) {
    while (pool->next < pool->parts) {
        const int part = pool->next++;
        const thread_pool_task task = pool->task;
        void *const argument = pool->argument;
        ++pool->running;
        pthread_mutex_unlock(&pool->lock);
        {
            STINT_TIMER_UNDER("part", pool->sender); /* stays while a part is running */
            task(argument, part);
        }
        pthread_mutex_lock(&pool->lock);
        --pool->running;
    }
}

static void *work(void *argument) {
    struct thread_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->ending) {
        run_parts_locked(pool);
        if (pool->running == 0) {
            pthread_cond_signal(&pool->done);
        }
        pthread_cond_wait(&pool->wake, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

void thread_pool_run(struct thread_pool *pool, thread_pool_task task, void *argument, int parts) {
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->argument = argument;
    STINT_FOR_TIMING(pool->sender = stint_sender_here();)
    pool->next = 0;
    pool->parts = parts;
    pthread_cond_broadcast(&pool->wake);
    run_parts_locked(pool);
    while (pool->running > 0) {
        pthread_cond_wait(&pool->done, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

int thread_pool_threads(const struct thread_pool *pool) {
    return pool->workers + 1;
}

struct thread_pool *thread_pool_create(int threads) {
    struct thread_pool *pool =
        calloc(1, sizeof *pool + (size_t)(threads - 1) * sizeof pool->worker[0]);
    if (pool == NULL) {
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    while (pool->workers < threads - 1) {
        if (pthread_create(&pool->worker[pool->workers], NULL, work, pool) != 0) {
            thread_pool_destroy(pool);
            return NULL;
        }
        ++pool->workers;
    }
    return pool;
}

void thread_pool_destroy(struct thread_pool *pool) {
    if (pool == NULL) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->ending = 1;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->workers; ++i) {
        pthread_join(pool->worker[i], NULL);
    }
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
