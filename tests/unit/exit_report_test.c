/* SPDX-License-Identifier: Apache-2.0 */
/* The report at the end of a program: each case forks one. exit_report_cxx tests that it comes
 * after C++ static destructors. */
#include "interval/report_print.h"

#include "support.h"

static void wait_for(void *child) {
    int status = 0;
    pid_t pid = fork();
    if (!pid) {
        ((void (*)(void))(uintptr_t)child)();
        exit(7);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7); /* the program's own status */
}

/* Returns the output on stderr of a program that calls `child` and exits. */
static char *end_of(void (*child)(void)) {
    return harness_capture(2, wait_for, (void *)(uintptr_t)child);
}

static void late(void) {
    timed("in atexit", 20);
    dprintf(2, "handler\n");
}

static void asks(void) {
    atexit(late);
    timed("main", 10);
    CHECK(!stint_report_at_exit("legacy"));
}

TEST(exit_report, comes_after_atexit_handlers) {
    char *said = end_of(asks);
    CHECK(said && !strncmp(said, "handler\n======= StatSet: [GlobalStatInfo]", 41));
    CHECK_CONTAINS(said, "Stat=in atexit");
    CHECK_CONTAINS(said, "Stat=main");
    CHECK_EQ_U64(times_in(said, "======= StatSet"), 1);
}

static void plain(void) {
    timed("main", 10);
}

TEST(exit_report, environment) {
    setenv("STINT_REPORT", "tree", 1);
    char *said = end_of(plain);
    CHECK_CONTAINS(said, "stint tree: testprog");
}

static void reports(void) {
    timed("main", 10);
    CHECK(!stint_report(NULL) && !stint_report_and_reset());
    CHECK(!stint_set_report(NULL, NULL) && !stint_report("none"));
    stint_stat stat;
    CHECK(stint_stat_get("main", &stat, sizeof stat) == -1); /* reset all the same */
}

TEST(exit_report, none_prints_nothing) {
    setenv("STINT_REPORT", "none", 1);
    char *said = end_of(plain);
    CHECK_STR_EQ(said, "");
    said = end_of(reports);
    CHECK_STR_EQ(said, "");
    said = end_of(asks); /* a call has precedence */
    CHECK_CONTAINS(said, "Stat=main");
}

static void asks_for_none(void) {
    timed("main", 10);
    CHECK(!stint_report_at_exit("none"));
    CHECK(stint_report_at_exit("non") == -1);
}

TEST(exit_report, a_call_may_ask_for_none) {
    setenv("STINT_REPORT", "table", 1);
    char *said = end_of(asks_for_none);
    CHECK_CONTAINS(said, "stint: report \"non\": expected none or legacy|");
    CHECK_EQ_U64(lines_of(said), 1);
}

TEST(exit_report, none_unless_asked_for) {
    char *said = end_of(plain);
    CHECK_STR_EQ(said, "");
}

static void nothing(void) {
}

TEST(exit_report, nothing_recorded_nothing_said) {
    setenv("STINT_REPORT", "table", 1);
    char *said = end_of(nothing);
    CHECK_STR_EQ(said, "");
}

static void takes_back(void) {
    timed("main", 10);
    CHECK(!stint_report_at_exit("table"));
    CHECK(!stint_report_at_exit(NULL));
}

TEST(exit_report, null_takes_it_back) {
    char *said = end_of(takes_back);
    CHECK_STR_EQ(said, "");
}

static void asks_twice(void) {
    timed("main", 10);
    CHECK(!stint_report_at_exit("table"));
    CHECK(!stint_report_at_exit("tree"));
}

TEST(exit_report, the_last_call_counts_and_beats_the_environment) {
    setenv("STINT_REPORT", "legacy", 1);
    char *said = end_of(asks_twice);
    CHECK_CONTAINS(said, "stint tree: ");
    CHECK_EQ_U64(times_in(said, "stint table: ") + times_in(said, "======="), 0);
}

static void asks_wrongly(void) {
    timed("main", 10);
    CHECK(stint_report_at_exit("tabel") == -1);
}

TEST(exit_report, a_bad_view_is_one_line_at_once) {
    char *said = end_of(asks_wrongly);
    CHECK_EQ_U64(lines_of(said), 1);
    CHECK_CONTAINS(said, "stint: report \"tabel\": expected ");
}

static void leaves_at_once(void) {
    timed("main", 10);
    stint_report_at_exit("table");
    _exit(7);
}

TEST(exit_report, not_after_a_quick_exit) {
    char *said = end_of(leaves_at_once);
    CHECK_STR_EQ(said, "");
}

static void forks(void) {
    timed("before", 10);
    stint_report_at_exit("table");
    IN_CHILD() {
    }
    pid_t pid = fork();
    if (!pid) {
        exit(0); /* recorded nothing of its own */
    }
    waitpid(pid, NULL, 0);
}

TEST(exit_report, a_child_does_not_print_its_parents_numbers) {
    char *said = end_of(forks);
    CHECK_EQ_U64(times_in(said, "stint table: "), 1);
}

static void open_at_exit(void) {
    REGISTER_TIMER("main");
    fake_advance(12300000000);
    stint_report_at_exit("table");
    exit(7);
}

TEST(exit_report, scopes_open_at_the_end_are_named) {
    char *said = end_of(open_at_exit);
    CHECK_CONTAINS(said, "open: main, for 12.30 s, thread ");
}
