/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of libc that block: each as often as libc_calls of wrap_test.py says. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock_and_unlock(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    const struct timespec millisecond = {.tv_nsec = 1000000};
    pthread_t thread;
    sem_t semaphore;
    int ends[2];
    char byte = 1;
    if (pipe(ends) || sem_init(&semaphore, 0, 1) || sem_wait(&semaphore)) {
        return 1;
    }
    if (pthread_create(&thread, NULL, lock_and_unlock, NULL)) {
        return 1;
    }
    lock_and_unlock(NULL);
    pthread_join(thread, NULL);
    if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) {
        return 1;
    }
    struct pollfd nothing = {.fd = ends[0], .events = POLLIN};
    poll(&nothing, 1, 1);
    nanosleep(&millisecond, NULL);
    pid_t child = fork();
    if (!child) {
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
