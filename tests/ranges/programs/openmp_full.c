/* SPDX-License-Identifier: Apache-2.0 */
/* More tasks at a time than the adapter has places for: 40 000 wait for the thread that creates
 * them, as the other one does not run any. Then 100 more. It prints how many have run. */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static volatile int sink, are_created;

static void add(void) {
#pragma omp atomic
    ++sink;
}

int main(void) {
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) {
            for (int i = 0; i < 40000; ++i) {
#pragma omp task
                add();
            }
            are_created = 1;
        }
        while (!are_created) {
            usleep(100);
        }
    }
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 100; ++i) {
#pragma omp task
        add();
    }
    printf("%d\n", sink);
    return 0;
}
