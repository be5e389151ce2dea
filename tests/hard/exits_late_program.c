/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Destructors before and after the library's: each opens scopes old and new, starts a thread, reads
 * and reports. Says on stdout who ran, in order.
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include <stint/stint.h>

#include "exits_late.h"

static void shared_site(void) {
    REGISTER_TIMER("everybody");
}

static void *of_a_thread(void *unused) {
    shared_site();
    return unused;
}

static void late(const char *name) {
    stint_stat s = {0};
    pthread_t t;
    char line[128];
    shared_site();
    {
        REGISTER_TIMER_DYNAMIC(name);
        stint_sample_add("late sample", 5);
    }
    if (!pthread_create(&t, NULL, of_a_thread, NULL)) {
        pthread_join(t, NULL);
    }
    stint_stat_get("everybody", &s, sizeof s);
    int n = snprintf(line, sizeof line, "%s sees %d\n", name, (int)s.calls);
    (void)!write(STDOUT_FILENO, line, (size_t)n); /* stdio may have been closed */
    stint_report("table");
    stint_filter_set("+*");
    stint_set_get(name);
}

__attribute__((destructor(101))) static void last_of_the_program(void) {
    late("the program");
}

int main(void) {
    late_first(late, "the first");
    late_second(late, "the second");
    shared_site();
    stint_report_at_exit("legacy");
    return 0;
}
