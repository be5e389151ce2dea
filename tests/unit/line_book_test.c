/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time per source line, from the markers of stint/lines.h. The expected calls and times are those
 * of the fake clock; the reader must survive hostile tables.
 */
#include <setjmp.h>

#include "harness_threads.h"
#include "interval/interval.h"
#include "model/line_rows.h"
#include "recorded.h"

#include "stint/lines.h"

STINT_LINES_FILE(0, "file.c", NULL, 6, 10, 20, 30, 40, 50, 60)

struct taken {
    struct snapshot s;
    struct line_rows rows;
};

/* The lines of this process, now; until the next call. */
static const struct taken *lines_now(void) {
    static struct taken now;
    snapshot_free(&now.s);
    memset(&now, 0, sizeof now);
    if (CHECK(!snapshot_take(&now.s))) {
        CHECK(!line_rows_read(&now.rows, &now.s));
    }
    return &now;
}

static void check_line(const struct taken *t, uint32_t line, uint64_t hits, uint64_t self,
                       uint64_t total) {
    uint32_t i = 0;
    while (i < t->rows.row_count && t->rows.rows[i].line != line) {
        ++i;
    }
    if (CHECK(i < t->rows.row_count)) {
        CHECK_EQ_U64(t->rows.rows[i].hits, hits);
        CHECK_EQ_U64(t->rows.rows[i].self_ns, self);
        CHECK_EQ_U64(t->rows.rows[i].total_ns, total);
    }
}

static void inner(void) {
    STINT_LINES_FUNCTION(0)
    fake_advance(1); /* before the first line: the caller's */
    STINT_LINE(0);
    fake_advance(10);
}

static int outer(int n) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(1);
    fake_advance(100);
    STINT_LINE(2);
    inner();
    fake_advance(1000);
    inner();
    if (n) {
        return n; /* the end of a function is on the line that was current */
    }
    STINT_LINE(3);
    fake_advance(7);
    return 0;
}

TEST(line_book, own_time_and_calls) {
    for (int i = 0; i < 3; ++i) {
        outer(i % 2);
        fake_advance(5000); /* outside */
    }
    const struct taken *t = lines_now();
    CHECK_EQ_U64(t->rows.file_count, 1);
    CHECK_STR_EQ(t->rows.files[0].name, "file.c");
    CHECK_EQ_U64(t->rows.row_count, 6);
    check_line(t, 10, 6, 60, 60);
    check_line(t, 20, 3, 300, 300);
    check_line(t, 30, 3, 3006, 3066);
    check_line(t, 40, 2, 14, 14);
    check_line(t, 50, 0, 0, 0);
}

static void recurse(int n) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(1);
    fake_advance(10);
    STINT_LINE(2);
    if (n) {
        recurse(n - 1);
    }
    fake_advance(1);
}

TEST(line_book, recursion_counts_once) {
    recurse(4);
    const struct taken *t = lines_now();
    check_line(t, 20, 5, 50, 50);
    /* 10 of 55 ns in all were before the first call. */
    check_line(t, 30, 5, 5, 45);
}

/* Ends in one of three ways, and calls itself from two lines. */
static int wander(unsigned *seed, int depth) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(0);
    *seed = *seed * 1664525u + 1013904223u;
    fake_advance(*seed >> 28);
    STINT_LINE(1);
    if (depth && *seed & 1 << 20) {
        wander(seed, depth - 1);
        fake_advance(3);
    }
    STINT_LINE(2);
    if (*seed & 1 << 21) {
        return 1;
    }
    if (*seed & 1 << 22) {
        goto end;
    }
    STINT_LINE(3);
    if (depth) {
        STINT_LINE(4);
        wander(seed, depth - 1);
    }
    fake_advance(5);
end:
    STINT_LINE(5);
    return 0;
}

TEST(line_book, lines_add_up_to_the_function) {
    unsigned seed = 1;
    u128 all = 0;
    for (int i = 0; i < 200; ++i) {
        {
            REGISTER_TIMER("wander");
            wander(&seed, 6);
        }
        fake_advance(1000); /* outside */
    }
    const struct taken *t = lines_now();
    for (uint32_t i = 0; i < t->rows.row_count; ++i) {
        all += t->rows.rows[i].self_ns;
    }
    CHECK(all > 1000);
    CHECK_EQ_U64(all, stat_of("wander").total_ns);
}

static void loop(void) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE_AGAIN(1);
    for (int i = 0; STINT_LINE(1), i < 4; STINT_LINE_AGAIN(1), ++i) {
        if (STINT_LINE_ENTERED(1), 0) {
        } else {
            fake_advance(2);
        }
        STINT_LINE(2);
        STINT_LINE_ENTERED(2);
        fake_advance(3);
        if (i == 2) {
            STINT_LINE_ENTERED(3); /* as a case: the line was entered here */
        }
    }
}

TEST(line_book, kinds_of_markers) {
    loop();
    const struct taken *t = lines_now();
    check_line(t, 20, 5, 8, 8);
    check_line(t, 30, 4, 12, 12);
    check_line(t, 40, 1, 0, 0);
}

static jmp_buf back;

static void jump(void) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(0);
    fake_advance(4);
    longjmp(back, 1);
}

static void jump_outer(void) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(1);
    jump();
}

TEST(line_book, longjmp_over_functions) {
    if (!setjmp(back)) {
        jump_outer();
    }
    outer(0);
    outer(0);
    const struct taken *t = lines_now();
    check_line(t, 20, 3, 200, 200); /* jump did not end: nothing is added for it */
    check_line(t, 30, 2, 2004, 2044);
    /* The line that jumped is current until the next marker, and so makes the two calls. */
    check_line(t, 10, 5, 44, 44 + 2 * 1109);
}

static void *in_thread(void *times) {
    for (int i = 0; i < *(int *)times; ++i) {
        inner();
    }
    return NULL;
}

TEST(line_book, threads_are_added_and_continued) {
    int times = 2;
    for (int i = 0; i < 5; ++i) {
        thread_run(in_thread, &times);
    }
    inner();
    const struct taken *t = lines_now();
    check_line(t, 10, 11, 110, 110);
    /* Each thread continued the table of the one before. */
    uint32_t tables = 0;
    for (uint32_t unit = arena_header()->first_lines; unit; ++tables) {
        unit = ((struct arena_lines *)arena_at(unit))->next;
    }
    CHECK_EQ_U64(tables, 1);
}

static void lines_in_child(void) {
    STINT_LINES_FUNCTION(0)
    inner();
    const struct taken *t = lines_now();
    check_line(t, 10, 1, 10, 10);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void lines_in_grandchild(void) {
    harness_in_child(lines_in_child);
}

static void fork_inside(void) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(1);
    inner();
    /* The frame of this function is of the parent's recording. */
    harness_in_child(lines_in_child);
    harness_in_child(lines_in_grandchild);
    STINT_LINE(2);
    fake_advance(9);
}

TEST(line_book, a_child_starts_clean) {
    fork_inside();
    const struct taken *t = lines_now();
    check_line(t, 10, 1, 10, 10);
    check_line(t, 30, 1, 9, 9);
}

static void fork_and_return(int depth) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(1);
    if (depth) {
        int status = 1;
        pid_t child = fork();
        if (!child) {
            fork_and_return(depth - 1);
            STINT_LINE(2); /* the cells of the parents are gone, and their memory */
            inner();
            return;
        }
        CHECK(waitpid(child, &status, 0) == child && !status);
    }
}

static void return_in_child(void) {
    pid_t before = getpid();
    fork_and_return(3);
    if (getpid() != before) {
        _exit(0);
    }
}

TEST(line_book, functions_return_in_children_of_children) {
    return_in_child();
}

TEST(line_book, switched_off) {
    inner();
    stint_timers_enable(0);
    inner();
    outer(0);
    stint_timers_enable(1);
    inner();
    const struct taken *t = lines_now();
    check_line(t, 10, 2, 20, 20);
    check_line(t, 20, 0, 0, 0);
}

static void inner_twice(NO_ARG) {
    inner();
    inner();
}

/* Markers read the processor's counter. */
TEST(line_book, another_clock_is_named_once) {
    setenv("STINT_CLOCK", "monotonic", 1);
    char *line = harness_capture(2, inner_twice, NULL);
    CHECK_CONTAINS(line,
                   "times of source lines are not recorded: they need the processor's counter, "
                   "and the clock is monotonic; STINT_CLOCK=tsc selects the counter\n");
    CHECK(strchr(line, '\n') == line + strlen(line) - 1);
    const struct taken *t = lines_now();
    CHECK_EQ_U64(t->rows.row_count, 0); /* a row of 0 hits would say that the line never ran */
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(line_book, without_memory_it_is_counted) {
    setenv("STINT_MEMORY", "1M", 1);
    static uint32_t numbers[60000];
    static const struct stint_impl_lines_file large = {"large.c", numbers, 60000, 0, NULL};
    static __thread struct stint_impl_lines_book *book;
    struct stint_impl_lines_frame frame;
    stint_impl_lines_enter(&frame, &large, &book);
    stint_impl_line(frame.book, 5);
    stint_impl_lines_leave(&frame);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_NODE), 1);
    inner();
    const struct taken *t = lines_now();
    check_line(t, 10, 1, 10, 10);
    CHECK_EQ_U64(t->rows.file_count, 1);
}

/* The reader ends and stays inside the tables whatever they contain. */
TEST(line_book, hostile_tables) {
    inner();
    struct arena_lines *table = arena_at(arena_header()->first_lines);
    struct arena_lines good = *table;
    table->next = arena_header()->first_lines; /* a cycle */
    const struct taken *t = lines_now();
    CHECK(t->rows.row_count == 6);
    for (uint64_t i = 0; i < 3; ++i) {
        *table = good;
        if (i == 0) {
            table->count = UINT32_MAX;
        } else if (i == 1) {
            table->file = UINT32_MAX;
        } else {
            table->next = UINT32_MAX;
        }
        t = lines_now();
        CHECK(t->rows.row_count == (i == 2 ? 6 : 0));
    }
}
