/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of security_test.py: security_program STORY.
 *     secure   one scope; prints whether the system calls this program secure (AT_SECURE)
 *     names    names that are formats, paths, formulas, markup, everywhere a name may be
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include <stint/stint.h>

static const char *const hostile[] = {
    "%s%n%s%n%1000000$d",
    "/tmp/stint-evil",
    "../../stint-evil",
    "=cmd|'/C calc'!A0",
    "</script><script>alert(1)</script>",
    "$(touch stint-evil) `touch stint-evil`; touch stint-evil",
    "\x1b]0;title\a \x1b[31m",
    "%p-%h-%r",
};

static void nest(size_t i) {
    REGISTER_TIMER_DYNAMIC(hostile[i], 0, stint_set_get(hostile[i])); /* from 0 us up: a log line */
    REGISTER_TIMER_INFO("%s%n", hostile[i]);
    REGISTER_GPU_PROFILER("%n%s%n", hostile[i]);
    TIMER_MARK("mark %s%n");
    TIMER_VALUE("value %s%n", (double)i);
    REGISTER_TIMER("literal %s%n%*d");
}

static void *work(void *unused) {
    (void)unused;
    prctl(PR_SET_NAME, "%s%n%s%n/..");
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; ++i) {
        nest(i);
        stint_sample_add(hostile[i], 1000);
        stint_scope_begin(hostile[i]);
        stint_scope_end(hostile[i]);
        stint_scope_end("never begun %s%n"); /* a line about it, or a count */
        printStatus(hostile[i]);
        printStatus("unknown %s%n");
        stint_report(hostile[i]); /* no such view */
    }
    return NULL;
}

static void report(void) {
    static const char *const formats[] = {"csv", "json"};
    static const char *const views[] = {"table", "tree", "legacy", "table,threads"};
    for (size_t i = 0; i < sizeof views / sizeof *views; ++i) {
        stint_report(views[i]);
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        char path[32];
        snprintf(path, sizeof path, "out.%s", formats[i]);
        stint_export(path, formats[i]);
    }
    printAllStatus();
    stint_filter_set("-%s%n,+*");
    stint_filter_set("%s%n,,"); /* refused, by its text */
}

int main(int argc, char **argv) {
    const char *story = argc > 1 ? argv[1] : "";
    if (!strcmp(story, "secure")) {
        REGISTER_TIMER("secure");
        printf("secure %lu\n", getauxval(AT_SECURE));
        return 0;
    }
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    report();
    return 0;
}
