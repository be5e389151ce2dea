/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of several threads are added up. */
#include <pthread.h>
static void *run(void *sum) {
    int *n = sum;
    for (int i = 0; i < 50; i++) {
        *n += i;
    }
    return NULL;
}
int corpus_threads(void) {
    int sums[3] = {0, 0, 0};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, run, &sums[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    return sums[0] + sums[1] + sums[2];
}
