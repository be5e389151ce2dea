/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the functions, off: nothing from -O1 on. */
#include <stint/stint.h> /* gone */

extern int work(int n);

static int failed;

int identity_calls(int n, const char *name) {
    int sum = work(n);
    stint_stat stat = {0};                    /* gone */
    stint_set *set = stint_set_get(name);     /* gone */
    setThreadInfo(1);                         /* gone */
    if (stint_report_at_exit("table") != 0) { /* gone */
        sum += work(7);                       /* gone */
    }                                         /* gone */
    (void)stint_scope_begin(name);            /* gone */
    sum += work(sum);
    (void)stint_scope_end(name);                             /* gone */
    (void)printStatus(name);                                 /* gone */
    (void)printSegTimerStatus();                             /* gone */
    failed |= printAllStatus();                              /* gone */
    stint_timers_enable(sum);                                /* gone */
    stint_level_set(sum);                                    /* gone */
    stint_threads_show(sum);                                 /* gone */
    (void)stint_filter_set(name);                            /* gone */
    (void)stint_sample_add(name, stint_now_us());            /* gone */
    (void)stint_stat_get(name, &stat, sizeof stat);          /* gone */
    (void)stint_set_report(set, "tree");                     /* gone */
    (void)stint_set_print(set, name);                        /* gone */
    (void)stint_set_stat_get(set, name, &stat, sizeof stat); /* gone */
    stint_set_reset(set);                                    /* gone */
    resetStatus();                                           /* gone */
    stint_reset();                                           /* gone */
    sum += getStat(name) ? work(3) : 0;                      /* gone */
    sum += (int)stat.calls;                                  /* gone */
    (void)stint_report("table");                             /* gone */
    (void)stint_report_and_reset();                          /* gone */
    (void)stint_stat_each(set, 0, &sum);                     /* gone */
    (void)stint_tree_each(0, &sum);                          /* gone */
    (void)stint_set_each(0, &sum);                           /* gone */
    (void)stint_stat_quantile(set, name, 500);               /* gone */
    (void)stint_stat_histogram(set, name, 0, 0);             /* gone */
    (void)stint_job_report(0, 1, 0, &sum);                   /* gone */
    (void)stint_profiler_start("All", name);                 /* gone */
    stint_profiler_reset();                                  /* gone */
    failed |= stint_profiler_stop(name, "x");                /* gone */
    (void)stint_profiler_at_exit(0, 0, 0, name);             /* gone */
    return sum + failed;
}
