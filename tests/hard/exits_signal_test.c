/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal handler that ends the program by exit, as one for SIGTERM does, after single
 * instructions all over what the library does: the program is over, with the status the handler
 * gave. Where a report would wait for what was interrupted there is a line in its place.
 */
#include "../run/run_support.h"
#include "stepping.h"

#define STATUS 23
/* Each end takes all steps before it: they are close to each other where the work begins. */
#define NEXT(n) ((n) + 1 + (n) / ((n) < 2000 ? 30 : 4))

static unsigned seen, end_at;

static void end_here(int number) {
    (void)number;
    if (++seen == end_at) {
        exit(STATUS);
    }
}

static void step_through(void (*work)(void)) {
    stepping_install(SIGTRAP, end_here);
    stepping(1);
    work();
    stepping(0);
}

/* A process of its own that ends after so many instructions of `work`; 0 when there were fewer. */
static int ends_after(unsigned n, void (*before)(void), void (*work)(void)) {
    pid_t child = fork();
    if (!child) {
        alarm(harness_child_seconds());
        before();
        end_at = n;
        step_through(work);
        _exit(0);
    }
    int status = run_wait(child);
    if (!CHECK(status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == STATUS))) {
        dprintf(harness_fd, "instruction %u: status %#x\n", n, (unsigned)status);
        return 0;
    }
    return status != 0;
}

static void end_all_over(void (*before)(void), void (*work)(void)) {
    unsigned ends = 0;
    run_begin("run");
    setenv("STINT_OUTPUT", run_path("report"), 1);
    setenv("STINT_REPORT", "table", 1);
    for (unsigned n = 1; ends_after(n, before, work); n = NEXT(n)) {
        ++ends;
    }
    printf("# %u ends\n", ends);
    CHECK(ends > 30);
}

static void nothing(void) {
}

TEST(exits_signal, inside_known_scopes) {
    NEEDS_STEPPING(end_here);
    end_all_over(stepped_scopes, stepped_scopes);
}

TEST(exits_signal, inside_the_first_use) {
    NEEDS_STEPPING(end_here);
    end_all_over(nothing, stepped_scopes);
}

static void new_names(void) {
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        REGISTER_TIMER_DYNAMIC(names[i]);
    }
}

TEST(exits_signal, inside_new_names) {
    NEEDS_STEPPING(end_here);
    end_all_over(stepped_scopes, new_names);
}

static void settings(void) {
    stint_filter_set("-nothing");
    stint_level_set(1);
    (void)stint_set_get("a set");
}

TEST(exits_signal, inside_settings) {
    NEEDS_STEPPING(end_here);
    end_all_over(stepped_scopes, settings);
}

static void reads(void) {
    stint_stat s;
    (void)stint_stat_get("inner", &s, sizeof s);
    stint_reset();
}

TEST(exits_signal, inside_a_report) {
    NEEDS_STEPPING(end_here);
    end_all_over(stepped_scopes, reads);
}
