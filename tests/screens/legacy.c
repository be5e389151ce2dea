/* SPDX-License-Identifier: Apache-2.0 */
#include "screens.h"

static void merged(void) {
    training();
    printAllStatus();
}

static void segment(void) {
    training();
    printSegTimerStatus();
}

static void one_name(void) {
    training();
    printStatus("forward");
    printStatus("backward");
}

/* The main thread, one that goes on beside it, one that has ended. */
static void each_thread(void) {
    training();
    beside(training);
    on_a_thread(training);
    timed("only main", 5 * MS);
    setThreadInfo(1);
    printAllStatus();
    printStatus("load");
}

static void sets(void) {
    stint_set *server = stint_set_get("pserver:0");
    stint_set_get("never used");
    timed("mine", 3 * MS);
    {
        REGISTER_TIMER("pushRecv", -1, server);
        fake_advance(42 * US);
    }
    printAllStatus();
    stint_set_report(server, "legacy");
    stint_set_print(server, "pushRecv");
}

/* Times from a nanosecond to two weeks, and a name wider than its column. */
static void numbers(void) {
    timed("a nanosecond", 1);
    timed("a microsecond", US);
    timed("136.141 ms", 136141 * US);
    timed("17 minutes", (uint64_t)1000000 * MS);
    timed("two weeks", (uint64_t)1209600 * SEC + 1);
    timed("a name of more than the thirty columns that are kept for it", 7 * MS);
    printAllStatus();
}

static void prefix(void) {
    timed("matmul", 1 * MS);
    beside(merged);
    setThreadInfo(1);
    printAllStatus();
    {
        REGISTER_TIMER_INFO("loadModel", "file=a.bin");
        fake_advance((uint64_t)12003045 * US);
    }
    { REGISTER_GPU_PROFILER("trainStep", "batch = 32, dim = 64"); }
}

static void left_open(void) {
    stint_scope_begin("a");
    stint_scope_begin("b");
    stint_scope_end("a");
    stint_scope_end("never begun");
}

static void deep(int depth) {
    char name[16];
    snprintf(name, sizeof name, "d%d", depth);
    stint_scope_begin(name);
    if (depth < 300) {
        deep(depth + 1);
    }
    stint_scope_end(name);
}

static void losses(void) {
    left_open();
    deep(1);
    timed("", 1);
    timed(NULL, 1);
    stint_sample_add(NULL, 1);
    GPU_PROFILER_STOP();
    stint_report("legacy,top=2");
}

static void empty(void) {
    printAllStatus();
}

const struct screen legacy_screens[] = {
    {"legacy", merged},          {"legacy_segment", segment},
    {"legacy_status", one_name}, {"legacy_threads", each_thread},
    {"legacy_sets", sets},       {"legacy_numbers", numbers},
    {"legacy_prefix", prefix},   {"legacy_losses", losses},
    {"legacy_empty", empty},     {NULL, NULL}};
