/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU time by the source line that launched the work, with CUPTI's double. The times of the lines
 * must be those of the kernels that the test launched from them, also with threads, late records
 * and forks.
 */

#include "cupti_seen.h"
#include "harness_threads.h"
#include "interval/interval.h"
#include "model/line_rows.h"

#include "stint/lines.h"

STINT_LINES_FILE(0, "kernels.c", NULL, 4, 10, 20, 30, 40)

static struct snapshot s;
static struct line_rows rows;

static uint32_t launch_for(uint64_t ns) {
    struct cupti_double_kernel k = add_kernel;
    k.ns = ns;
    return cupti_double_launch(&k);
}

static void take(void) {
    wait_and_flush(2);
    CHECK(!snapshot_take(&s));
    CHECK(!line_rows_read(&rows, &s));
}

static void check_line(uint32_t line, uint64_t calls, uint64_t ns) {
    uint32_t i = 0;
    while (i < rows.row_count && rows.rows[i].line != line) {
        ++i;
    }
    if (CHECK(i < rows.row_count)) {
        CHECK_EQ_U64(rows.rows[i].gpu_calls, calls);
        CHECK_EQ_U64(rows.rows[i].gpu_ns, ns);
    }
}

static void run_copy(uint64_t ns) {
    cupti_double_copy(&(struct cupti_double_copy){
        .device = 2, .ns = ns, .bytes = 8, .direction = ACTIVITY_COPY_HTOD, .async = 1});
}

static void run_inner(void) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(3);
    launch_for(70000);
}

static void run_lines(void) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(0);
    launch_for(5000);
    launch_for(6000);
    STINT_LINE(1);
    run_copy(700);
    cupti_double_fill(2, 9, 512, ACTIVITY_MEMORY_DEVICE, 50);
    run_inner();
    launch_for(300); /* on the line of the call again */
    STINT_LINE(2);
    fake_advance(100);
}

TEST(cupti_lines, each_line_has_what_it_launched) {
    stint_stat stat;
    begin();
    {
        REGISTER_TIMER("step");
        run_lines();
    }
    launch_for(9000000); /* after the function: of no line, and of no scope */
    take();
    check_line(10, 2, 11000);
    check_line(20, 3, 1050);
    check_line(30, 0, 0);
    check_line(40, 1, 70000);
    CHECK(rows.has_gpu);
    CHECK(!stint_stat_get("step", &stat, sizeof stat));
    CHECK_EQ_U64(stat.device_total_ns, 11000 + 1050 + 70000);
}

TEST(cupti_lines, all_nodes_of_a_graph) {
    struct cupti_double_kernel nodes[3] = {add_kernel, add_kernel, add_kernel};
    begin();
    {
        STINT_LINES_FUNCTION(0)
        STINT_LINE(1);
        cupti_double_graph(nodes, 3);
    }
    take();
    check_line(20, 3, 3 * add_kernel.ns);
}

static void *run_thread(void *lines) {
    launch_for(40000); /* of no line, also where a thread with lines had this thread's memory */
    if (lines) {
        run_lines();
        launch_for(50000);
    }
    return NULL;
}

TEST(cupti_lines, threads_are_added_up) {
    begin();
    run_lines();
    for (int i = 0; i < 4; ++i) {
        thread_run(run_thread, i % 2 ? NULL : &rows);
    }
    take();
    check_line(10, 6, 33000);
    check_line(20, 9, 3150);
    check_line(30, 0, 0);
    check_line(40, 3, 210000);
}

/* Records of the launches come when the function has long ended. */
TEST(cupti_lines, late_records) {
    begin();
    cupti_double_hold(1);
    run_lines();
    run_lines();
    wait_and_flush(2);
    launch_for(1000);
    cupti_double_hold(0);
    take();
    check_line(10, 4, 22000);
    check_line(40, 2, 140000);
}

TEST(cupti_lines, no_column_without_a_launch) {
    begin();
    {
        STINT_LINES_FUNCTION(0)
        STINT_LINE(1);
        fake_advance(10);
    }
    launch_for(1000);
    take();
    CHECK(!rows.has_gpu);
    check_line(20, 0, 0);
}

TEST(cupti_lines, the_child_of_a_fork_has_lines_of_its_own) {
    begin();
    STINT_LINES_FUNCTION(0)
    STINT_LINE(1);
    launch_for(1000);
    IN_CHILD() {
        launch_for(2000); /* the line is the parent's, and its cell in the parent's arena */
        run_lines();
    }
    take();
    check_line(20, 1, 1000);
}
