/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork in a signal handler that interrupts the library after single instructions, all over a piece
 * of its work (forking.h). The child must record correctly on its own, and the parent must have all
 * of its calls.
 */
#include "record/cost.h"

#include "../run/run_support.h"
#include "forking.h"

static void afterwards(void) {
    REGISTER_TIMER("afterwards");
    fake_advance(3);
}

/* The child of a fork inside the work: it records, and knows nothing of its parent's. */
static void end_as_child(void) {
    afterwards();
    afterwards();
    uint64_t calls = calls_of("afterwards"), own = arena_header()->pid == (uint32_t)getpid();
    _exit(calls == 2 && own ? 0 : 3);
}

static void fork_inside(void (*work)(void)) {
    fork_all_over(work, end_as_child);
    afterwards();
    CHECK_EQ_U64(calls_of("afterwards"), 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(fork_signal, inside_known_scopes) {
    NEEDS_TRAP_FLAG();
    stepped_scopes();
    fork_inside(stepped_scopes);
    CHECK_EQ_U64(calls_of("outer"), 2);
    CHECK_EQ_U64(calls_of("inner"), 6);
}

TEST(fork_signal, inside_the_first_use) {
    NEEDS_TRAP_FLAG();
    fork_inside(stepped_scopes);
    CHECK_EQ_U64(calls_of("inner"), 3);
}

static void new_names(void) {
    char name[24];
    for (int i = 0; i < 40; ++i) {
        snprintf(name, sizeof name, "name%d", i);
        REGISTER_TIMER_DYNAMIC(name);
    }
}

TEST(fork_signal, inside_new_names) {
    NEEDS_TRAP_FLAG();
    stepped_scopes();
    fork_inside(new_names);
    CHECK_EQ_U64(calls_of("name39"), 1);
}

static void reads(void) {
    stint_stat s;
    CHECK(is_child || stint_stat_get("inner", &s, sizeof s) == 0 || is_child);
    stint_reset();
    (void)stint_stat_get("inner", &s, sizeof s);
}

TEST(fork_signal, inside_a_report) {
    NEEDS_TRAP_FLAG();
    stepped_scopes();
    fork_inside(reads);
}

static void prints(void) {
    stint_report("tree");
}

TEST(fork_signal, inside_a_printed_report) {
    NEEDS_TRAP_FLAG();
    setenv("STINT_OUTPUT", "/dev/null", 1);
    stepped_scopes();
    fork_inside(prints);
}

static void measures_the_cost(void) {
    struct arena_cost cost;
    cost_read(&cost);
}

/* The measurement replaces the thread's recorder for its time. */
TEST(fork_signal, inside_the_measurement_of_the_cost) {
    NEEDS_TRAP_FLAG();
    every_one = 400;
    stepped_scopes();
    fork_inside(measures_the_cost);
}

static void settings(void) {
    stint_filter_set("-nothing");
    stint_level_set(1);
    (void)stint_set_get("a set");
    stint_threads_show(1);
    stepped_scopes();
}

TEST(fork_signal, inside_settings) {
    NEEDS_TRAP_FLAG();
    stepped_scopes();
    fork_inside(settings);
}

static void intervals(void) {
    stint_timer t;
    TIMER_BEGIN(t, "interval");
    stint_sample_add("sample", 5);
    stint_scope_begin("begun");
    stint_scope_end("begun");
    TIMER_END(t);
    stint_step();
}

TEST(fork_signal, inside_intervals_and_steps) {
    NEEDS_TRAP_FLAG();
    stepped_scopes();
    fork_inside(intervals);
}

static void captures(void) {
    REGISTER_GPU_PROFILER("range");
    stepped_scopes();
}

static void quiet_captures(NO_ARG) {
    fork_inside(captures);
}

TEST(fork_signal, inside_a_capture_range) {
    NEEDS_TRAP_FLAG();
    stepped_scopes();
    harness_capture(2, quiet_captures, NULL);
}

/* ---- A child whose handler does not return at once: a server's that starts a worker, say. */

#define IN_THE_HANDLER 5

static void records_on(void) {
    char name[24];
    for (int i = 0; i < IN_THE_HANDLER; ++i) {
        REGISTER_TIMER("in the handler");
        fake_advance(1);
        snprintf(name, sizeof name, "in the handler %d", i);
        REGISTER_TIMER_DYNAMIC(name);
    }
}

/* All of it, or nothing where the call that was interrupted has to end first. */
static void end_after_living_on(void) {
    uint64_t calls = calls_of("in the handler");
    CHECK(calls == 0 || calls == IN_THE_HANDLER);
    CHECK_EQ_U64(calls_of("in the handler 0"), calls != 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

static void new_names_lived_through(void) {
    new_names();
    if (is_child) {
        end_after_living_on();
    }
}

TEST(fork_signal, the_child_lives_on_in_the_handler) {
    NEEDS_TRAP_FLAG();
    stepped_scopes();
    lives_on = records_on;
    fork_inside(new_names_lived_through);
    CHECK_EQ_U64(calls_of("in the handler"), 0);
    CHECK_EQ_U64(calls_of("name39"), 1);
}

static void ends_there(void) {
    exit(0);
}

static void known_and_new(void) {
    stepped_scopes();
    new_names();
}

TEST(fork_signal, the_child_ends_in_the_handler) {
    NEEDS_TRAP_FLAG();
    setenv("STINT_REPORT", "table", 1);
    setenv("STINT_OUTPUT", "/dev/null", 1);
    stepped_scopes();
    lives_on = ends_there;
    fork_inside(known_and_new);
    CHECK_EQ_U64(calls_of("name39"), 1);
}

/* Runs `work` with a run file. The arena is then shared memory, and the child must have its own
 * copy of it at once. */
static void in_a_file(void (*work)(void)) {
    run_begin("%p");
    stepped_scopes();
    fork_inside(work);
}

TEST(fork_signal, inside_known_scopes_in_a_file) {
    NEEDS_TRAP_FLAG();
    in_a_file(stepped_scopes);
    CHECK_EQ_U64(calls_of("outer"), 2);
    CHECK_EQ_U64(stat_of("outer").total_ns, 6);
    CHECK_EQ_U64(calls_of("inner"), 6);
}

TEST(fork_signal, inside_new_names_in_a_file) {
    NEEDS_TRAP_FLAG();
    in_a_file(new_names);
    CHECK_EQ_U64(calls_of("name0"), 1);
    CHECK_EQ_U64(calls_of("name39"), 1);
}

TEST(fork_signal, inside_a_report_in_a_file) {
    NEEDS_TRAP_FLAG();
    in_a_file(reads);
}
