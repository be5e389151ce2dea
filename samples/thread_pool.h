/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that share the parts of one job; the caller works along. */
#ifndef SAMPLES_THREAD_POOL_H
#define SAMPLES_THREAD_POOL_H

struct thread_pool;

typedef void (*thread_pool_task)(void *argument, int part);

/* A pool in which `threads` work, the caller of thread_pool_run among them. NULL: not started. */
struct thread_pool *thread_pool_create(int threads);
void thread_pool_destroy(struct thread_pool *pool);

int thread_pool_threads(const struct thread_pool *pool);

/* Calls task(argument, part) for each part from 0 to parts - 1, in any order and on any thread;
 * returns when all have returned. From one thread at a time, never from within a task. */
void thread_pool_run(struct thread_pool *pool, thread_pool_task task, void *argument, int parts);

#endif
