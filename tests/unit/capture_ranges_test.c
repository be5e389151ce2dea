/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture ranges of a process, also of a child after a fork, and the ranges that STINT_CAPTURE
 * selects. The GPU back end is fake_gpu.h, which counts starts and stops.
 */
#include <sys/time.h>

#include "fake_gpu.h"
#include "recorded.h"
#include "support.h"

static void plain(NO_ARG) {
    REGISTER_GPU_PROFILER("plain");
}

/* ---- fork. */

static void in_child(void (*body)(void)) {
    IN_CHILD() {
        fake_context = 1;
        { REGISTER_TIMER("opens the ledger"); }
        body();
    }
}

static uint64_t inherited;

static void ends_inherited(void) {
    stint_impl_capture_end(&inherited);
    GPU_PROFILER_STOP();
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
    CHECK_EQ_U64(fake_gpu.stops, 0);
    GPU_PROFILER_STOP(); /* without a start */
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 1);
    plain(NULL);
    CHECK_EQ_U64(fake_gpu.starts, 2);
    CHECK_EQ_U64(fake_gpu.stops, 1);
}

static void own_first(void) {
    GPU_PROFILER_START("child's");
    CHECK_EQ_U64(fake_gpu.starts, 2);
    stint_impl_capture_end(&inherited);
    CHECK_EQ_U64(fake_gpu.stops, 0);
    GPU_PROFILER_STOP();
    CHECK_EQ_U64(fake_gpu.stops, 1);
    GPU_PROFILER_STOP();
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
}

static void same_address(void) {
    stint_impl_capture_begin(&inherited, "child's", NULL);
    CHECK_EQ_U64(fake_gpu.starts, 2);
    stint_impl_capture_end(&inherited);
    CHECK_EQ_U64(fake_gpu.stops, 1);
    stint_impl_capture_end(&inherited);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 1);
}

static void grandchild(void) {
    in_child(ends_inherited);
}

TEST(capture_ranges, inherited_ranges_are_not_the_childs_and_not_unbalanced) {
    fake_context = 1;
    stint_impl_capture_begin(&inherited, "parent", NULL);
    GPU_PROFILER_START("parent too");
    in_child(ends_inherited);
    in_child(own_first);
    in_child(same_address);
    in_child(grandchild);
    CHECK_EQ_U64(fake_gpu.stops, 0);
    GPU_PROFILER_STOP();
    stint_impl_capture_end(&inherited);
    CHECK_CAPTURES(1);
}

static uint64_t guards[2000];

static void captures_once(void) {
    plain(NULL);
    CHECK_EQ_U64(fake_gpu.starts, 2);
    CHECK_EQ_U64(fake_gpu.stops, 1);
}

TEST(capture_ranges, full_table) {
    fake_context = 1;
    for (int i = 0; i < 2000; ++i) {
        stint_impl_capture_begin(&guards[i], "many", NULL);
    }
    for (int i = 0; i < 2000; ++i) {
        GPU_PROFILER_START("many");
    }
    in_child(captures_once); /* the parent's leave it room */
    for (int i = 0; i < 2000; ++i) {
        GPU_PROFILER_STOP();
        stint_impl_capture_end(&guards[i]);
    }
    CHECK_CAPTURES(1);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
}

static volatile sig_atomic_t is_child, forks_made;

static void forks_in_handler(int number) {
    int saved = errno, status = 1;
    (void)number;
    pid_t child = fork();
    if (!child) {
        alarm(harness_child_seconds());
        is_child = 1;
        return;
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    ++forks_made;
    errno = saved;
}

/* Many ranges are open, so the program spends nearly all its time under the lock. */
TEST(capture_ranges, fork_in_a_signal_handler_that_interrupted_us) {
    struct sigaction action = {.sa_handler = forks_in_handler, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    if (SANITIZED) {
        SKIP("a sanitizer defers signals, and calls a fork in a handler unsafe, which it is");
    }
    fake_context = 1;
    for (int i = 0; i < 1000; ++i) {
        stint_impl_capture_begin(&guards[i], "many", NULL);
    }
    sigaction(SIGVTALRM, &action, NULL);
    setitimer(ITIMER_VIRTUAL, &often, NULL);
    for (uint64_t i = 0; forks_made < 60 && !is_child; ++i) {
        stint_impl_capture_begin(&guards[1000 + i % 20], "more", NULL);
        stint_impl_capture_end(&guards[1000 + i % 20]);
    }
    if (is_child) {
        stint_impl_capture_end(&guards[0]);
        unsigned before = fake_gpu.starts;
        int saved = dup(2);
        dup2(open("/dev/null", O_WRONLY), 2);
        plain(NULL);
        dup2(saved, 2);
        CHECK_EQ_U64(fake_gpu.starts, before + 1);
        _exit(0);
    }
    setitimer(ITIMER_VIRTUAL, &never, NULL);
    CHECK_EQ_U64(fake_gpu.starts, 1);
    CHECK_EQ_U64(fake_gpu.stops, 0);
}

/* ---- STINT_CAPTURE. */

static void enter(const char *name) {
    REGISTER_GPU_PROFILER(name, name);
}

static void ten_entries(NO_ARG) {
    fake_context = 1;
    for (int i = 0; i < 10; ++i) {
        unsigned before = fake_gpu.starts;
        enter("other");
        enter("train");
        CHECK_EQ_U64(fake_gpu.starts - before, i == 2 || i == 3 || i == 7 || i == 8);
    }
}

TEST(capture_ranges, rules_choose_entries) {
    setenv("STINT_CAPTURE", "train:skip=2,record=2,every=5", 1);
    char *text = harness_capture(2, ten_entries, NULL);
    CHECK_CAPTURES(4);
    CHECK_EQ_U64(lines_of(text), 4);
    CHECK_EQ_U64(times_in(text, "Enable GPU Profiler Stat: [train] \"train\"\n"), 4);
}

TEST(capture_ranges, rules_see_through_ranges_around) {
    setenv("STINT_CAPTURE", "train:skip=1", 1);
    fake_context = 1;
    REGISTER_GPU_PROFILER("program");
    enter("train");
    CHECK_CAPTURES(0);
    enter("train");
    CHECK_CAPTURES(1);
    GPU_PROFILER_START("train");
    CHECK_EQ_U64(fake_gpu.starts, 2);
    enter("train"); /* part of the open entry */
    enter("program");
    CHECK_EQ_U64(fake_gpu.stops, 1);
    GPU_PROFILER_STOP();
    CHECK_CAPTURES(2);
}

TEST(capture_ranges, an_entry_inside_a_skipped_one_does_not_count) {
    setenv("STINT_CAPTURE", "train:skip=1,record=1", 1);
    fake_context = 1;
    GPU_PROFILER_START("train");
    enter("train");
    enter("train");
    GPU_PROFILER_STOP();
    CHECK_CAPTURES(0);
    enter("train");
    CHECK_CAPTURES(1);
}

TEST(capture_ranges, an_entry_is_open_to_the_end_of_its_last_part) {
    uint64_t inner;
    setenv("STINT_CAPTURE", "train:record=1", 1);
    fake_context = 1;
    GPU_PROFILER_START("train");
    stint_impl_capture_begin(&inner, "train", NULL);
    GPU_PROFILER_STOP();
    CHECK_EQ_U64(fake_gpu.stops, 0);
    stint_impl_capture_end(&inner);
    CHECK_CAPTURES(1);
}

static void child_counts_from_zero(void) {
    enter("train");
    CHECK_EQ_U64(fake_gpu.starts, 1);
    enter("train");
    CHECK_EQ_U64(fake_gpu.starts, 2);
}

TEST(capture_ranges, child_of_a_fork_counts_its_entries_from_zero) {
    setenv("STINT_CAPTURE", "train:skip=1,record=1", 1);
    fake_context = 1;
    enter("train");
    enter("train");
    in_child(child_counts_from_zero);
    CHECK_CAPTURES(1);
}

static void load(uint64_t ns) {
    REGISTER_TIMER("load");
    fake_advance(ns);
}

TEST(capture_ranges, a_slow_scope_arms_the_next_entry) {
    setenv("STINT_CAPTURE", "train:when=load>50ms", 1);
    fake_context = 1;
    for (unsigned i = 0; i < 30; ++i) {
        load(i % 10 == 4 ? 51000000 : 49000000);
        enter("train");
        CHECK_CAPTURES(i / 10 + (i % 10 >= 4));
    }
}

TEST(capture_ranges, bad_rules_are_said_and_ignored) {
    setenv("STINT_CAPTURE", "train:skip=x", 1);
    fake_context = 1;
    char *text = harness_capture(2, plain, NULL);
    CHECK_STR_EQ(text, "stint: STINT_CAPTURE=train:skip=x: expected a number up to 10^18 at x; "
                       "ignored\nEnable GPU Profiler Stat: [plain]\n");
    CHECK_CAPTURES(1);
}

static void rules_at_exit(NO_ARG) {
    pid_t child = fork();
    if (!child) {
        char *argv[] = {(char *)"t", (char *)"--no-fork", (char *)"capture_ranges.exits", NULL};
        dup2(open("/dev/null", O_WRONLY), 1);
        setenv("STINT_CAPTURE", "misspelt;train:skip=100", 1);
        execv("/proc/self/exe", argv);
        _exit(1);
    }
    waitpid(child, NULL, 0);
}

TEST(capture_ranges, exits) {
    if (!getenv("STINT_CAPTURE")) {
        SKIP("is run by the next one");
    }
    fake_context = 1;
    enter("train");
}

TEST(capture_ranges, rules_that_took_nothing_are_named_at_exit) {
    char *text = harness_capture(2, rules_at_exit, NULL);
    CHECK_CONTAINS(text, "stint: STINT_CAPTURE: range [misspelt] was never entered\n");
    CHECK_CONTAINS(text, "stint: STINT_CAPTURE: none of the 1 entries of range [train] was "
                         "captured\n");
}

static void nothing_was_slow(void) {
    enter("train");
    CHECK_CAPTURES(0);
}

TEST(capture_ranges, child_of_a_fork_is_not_armed_by_its_parent) {
    setenv("STINT_CAPTURE", "train:when=load>50ms", 1);
    fake_context = 1;
    load(60000000);
    in_child(nothing_was_slow);
    enter("train");
    CHECK_CAPTURES(1);
}
