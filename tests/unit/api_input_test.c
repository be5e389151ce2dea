/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad input to all functions of stint.h, by table: NULL, empty and too long names, sizes of 0 and
 * of the future, numbers out of range; as they are called from the program, from each kind of
 * callback and from a handler at exit. Each has a documented result, and the program goes on.
 */
#include <limits.h>

#include "recorded.h"
#include "support.h"

static char long_name[5000], long_sample[3000];
static stint_stat stat_out;
static char room[1024]; /* a stint_stat of the future */
static stint_schedule schedule;
static stint_bucket bucket[4];

static int ignore_stat(void *data, const char *name, const stint_stat *stat) {
    (void)data, (void)name, (void)stat;
    return 0;
}

static int ignore_row(void *data, const stint_tree_row *row) {
    (void)data, (void)row;
    return 0;
}

static int ignore_set(void *data, const char *name, stint_set *set) {
    (void)data, (void)name, (void)set;
    return 0;
}

#define UNKNOWN STINT_ERROR_UNKNOWN
/* A number, a call, and what it returns. The statistic "known" has one call of 7 ns. */
#define CALLS                                                                                      \
    CASE(1, stint_report("nonsense"), UNKNOWN)                                                     \
    CASE(2, stint_report(""), UNKNOWN)                                                             \
    CASE(3, stint_report(long_name), UNKNOWN)                                                      \
    CASE(4, stint_report("none"), STINT_OK)                                                        \
    CASE(5, stint_report_at_exit(long_name), UNKNOWN)                                              \
    CASE(6, stint_report_at_exit(""), UNKNOWN)                                                     \
    CASE(7, stint_report_at_exit(NULL), STINT_OK)                                                  \
    CASE(8, stint_export(NULL, NULL), UNKNOWN)                                                     \
    CASE(9, stint_export("", "csv"), UNKNOWN)                                                      \
    CASE(10, stint_export("/nowhere/at/all", "csv"), STINT_ERROR_CANNOT_WRITE)                     \
    CASE(11, stint_export(long_name, "csv"), STINT_ERROR_CANNOT_WRITE)                             \
    CASE(12, stint_export("/nowhere/at/all", ""), UNKNOWN)                                         \
    CASE(13, stint_stat_get(NULL, &stat_out, sizeof stat_out), UNKNOWN)                            \
    CASE(14, stint_stat_get("", &stat_out, sizeof stat_out), UNKNOWN)                              \
    CASE(15, stint_stat_get(long_name, &stat_out, sizeof stat_out), UNKNOWN)                       \
    CASE(16, stint_stat_get("known", NULL, sizeof stat_out), UNKNOWN)                              \
    CASE(17, stint_stat_get("known", &stat_out, 0), STINT_OK)                                      \
    CASE(18, stint_stat_get("known", (stint_stat *)(void *)room, sizeof room), STINT_OK)           \
    CASE(19, stint_set_stat_get(NULL, NULL, NULL, 0), UNKNOWN)                                     \
    CASE(20, stint_stat_each(NULL, NULL, NULL), UNKNOWN)                                           \
    CASE(21, stint_stat_each(NULL, ignore_stat, NULL), STINT_OK)                                   \
    CASE(22, stint_tree_each(NULL, NULL), UNKNOWN)                                                 \
    CASE(23, stint_tree_each(ignore_row, NULL), STINT_OK)                                          \
    CASE(24, stint_set_each(NULL, NULL), UNKNOWN)                                                  \
    CASE(25, stint_set_each(ignore_set, NULL), STINT_OK)                                           \
    CASE(26, stint_stat_histogram(NULL, NULL, bucket, 4), UNKNOWN)                                 \
    CASE(27, stint_stat_histogram(NULL, "", bucket, 4), UNKNOWN)                                   \
    CASE(28, stint_stat_histogram(NULL, "known", NULL, 4), UNKNOWN)                                \
    CASE(29, stint_stat_histogram(NULL, "known", NULL, 0), 1)                                      \
    CASE(30, stint_stat_histogram(NULL, "known", bucket, 4), 1)                                    \
    CASE(31, stint_sample_add(NULL, 1), UNKNOWN)                                                   \
    CASE(32, stint_sample_add("", 1), UNKNOWN)                                                     \
    CASE(33, stint_sample_add("sample", UINT64_MAX), UNKNOWN)                                      \
    CASE(34, stint_sample_add(long_sample, 0), STINT_OK)                                           \
    CASE(35, stint_scope_begin(NULL), UNKNOWN)                                                     \
    CASE(36, stint_scope_begin(""), UNKNOWN)                                                       \
    CASE(37, stint_scope_end(NULL), UNKNOWN)                                                       \
    CASE(38, stint_scope_end(""), UNKNOWN)                                                         \
    CASE(39, stint_scope_end("never begun"), UNKNOWN)                                              \
    CASE(40, stint_scope_begin(long_sample) + stint_scope_end(long_sample), STINT_OK)              \
    CASE(41, stint_set_get(NULL) == NULL, 0)                                                       \
    CASE(42, stint_set_get("") == NULL, 0)                                                         \
    CASE(43, stint_set_get(long_name) == NULL, 0)                                                  \
    CASE(44, stint_set_report(NULL, "nonsense"), UNKNOWN)                                          \
    CASE(45, stint_set_report(stint_set_get("empty"), "none"), STINT_OK)                           \
    CASE(46, stint_set_print(NULL, NULL), UNKNOWN)                                                 \
    CASE(47, stint_set_print(stint_set_get("empty"), long_name), UNKNOWN)                          \
    CASE(48, stint_filter_set("+"), UNKNOWN)                                                       \
    CASE(49, stint_filter_set(NULL), STINT_OK)                                                     \
    CASE(50, stint_level_set(-1), UNKNOWN)                                                         \
    CASE(51, stint_level_set(INT_MAX), UNKNOWN)                                                    \
    CASE(52, stint_level_set(INT_MIN), UNKNOWN)                                                    \
    CASE(53, stint_level_set(0), STINT_OK)                                                         \
    CASE(54, stint_timers_schedule(&schedule, 0, NULL, NULL), UNKNOWN)                             \
    CASE(55, stint_timers_schedule(&schedule, sizeof schedule, NULL, NULL), UNKNOWN)               \
    CASE(56, stint_timers_schedule(NULL, SIZE_MAX, NULL, NULL), STINT_OK)                          \
    CASE(57, stint_timers_schedule((stint_schedule *)(void *)room, sizeof room, NULL, NULL),       \
         STINT_ERROR_NOT_AVAILABLE)                                                                \
    CASE(58, stint_capture_schedule(&schedule, 0, NULL, NULL), UNKNOWN)                            \
    CASE(59, stint_capture_schedule((stint_schedule *)(void *)room, sizeof room, NULL, NULL),      \
         STINT_ERROR_NOT_AVAILABLE)                                                                \
    CASE(60, stint_profiler_start("", NULL), UNKNOWN)                                              \
    CASE(61, stint_profiler_start(long_name, long_name), UNKNOWN)                                  \
    CASE(62, stint_profiler_stop("median", NULL), UNKNOWN)                                         \
    CASE(63, stint_profiler_stop(NULL, long_name), STINT_OK) /* none is running */                 \
    CASE(64, stint_profiler_at_exit("CPU", NULL, NULL, long_name), UNKNOWN)                        \
    CASE(65, stint_stat_here(NULL, sizeof(stint_stat)) != NULL, 0)                                 \
    CASE(66, stint_stat_here("known", SIZE_MAX) != NULL, 0)                                        \
    CASE(67, stint_stat_quantile(NULL, "known", 1001) == STINT_NS_UNKNOWN, 1)                      \
    CASE(68, stint_stat_quantile(NULL, "known", UINT_MAX) == STINT_NS_UNKNOWN, 1)                  \
    CASE(69, stint_stat_quantile(NULL, "known", 0) == 7, 1)                                        \
    CASE(70, stint_stat_quantile(NULL, "known", 1000) == 7, 1)                                     \
    CASE(71, stint_stat_quantile(NULL, NULL, 500) == STINT_NS_UNKNOWN, 1)                          \
    CASE(72, stint_stat_quantile(NULL, long_name, 500) == STINT_NS_UNKNOWN, 1)                     \
    CASE(73, strcmp(stint_result_text(INT_MIN), "unknown result"), 0)                              \
    CASE(74, strcmp(stint_result_text(INT_MAX), "unknown result"), 0)                              \
    CASE(75, stint_log_set(NULL, long_name), STINT_OK)                                             \
    CASE(76, (stint_set_reset(stint_set_get(NULL)), stint_sample_add("known", 7)), STINT_OK)       \
    CASE(77, (stint_threads_show(INT_MAX), stint_threads_show(0), stint_timers_enable(-1), 0), 0)  \
    CASE(78, (stint_profiler_reset(), stint_version() == NULL), 0)

#define CASE(number, expression, result)                                                           \
    static int call_##number(void) {                                                               \
        return expression;                                                                         \
    }
CALLS
#undef CASE

static const struct {
    const char *text;
    int (*call)(void);
    int result;
} cases[] = {
#define CASE(number, expression, result) {#expression, call_##number, result},
    CALLS
#undef CASE
};

static void prepare(void) {
    memset(long_name, 'n', sizeof long_name - 1);
    memset(long_sample, 'm', sizeof long_sample - 1);
    memset(room, 1, sizeof room);
    memset(&schedule, 0, sizeof schedule);
    stint_sample_add("known", 7);
}

/* Each case before the one that resets the set is seen with "known" as it was. */
static int run_cases(void) {
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        errno = 1234;
        memset(room, 1, sizeof room);
        int result = cases[i].call();
        if (result != cases[i].result || errno != 1234) {
            fprintf(stdout, "%s: %d, expected %d\n", cases[i].text, result, cases[i].result);
            ++wrong;
        }
    }
    return (int)wrong;
}

static void quietly(void *wrong) {
    *(int *)wrong = run_cases();
}

static void check_cases(void) {
    int wrong = -1;
    harness_capture(2, quietly, &wrong); /* the lines about the errors */
    CHECK_EQ_U64((uint64_t)wrong, 0);
}

TEST(api_input, from_the_program) {
    prepare();
    check_cases();
    CHECK_EQ_U64(open_scopes(), 0);
}

static int in_stat(void *calls, const char *name, const stint_stat *stat) {
    (void)name, (void)stat;
    ++*(int *)calls;
    check_cases();
    stint_reset();
    timed("known", 7);
    return 0;
}

static int in_row(void *calls, const stint_tree_row *row) {
    (void)row;
    return in_stat(calls, NULL, NULL);
}

static int in_set(void *calls, const char *name, stint_set *set) {
    (void)set;
    return in_stat(calls, name, NULL);
}

TEST(api_input, from_the_callbacks_of_walks) {
    int calls = 0;
    prepare();
    timed("another", 1);
    CHECK(stint_stat_each(NULL, in_stat, &calls) == STINT_OK);
    CHECK_EQ_U64((uint64_t)calls, 2);
    CHECK(stint_tree_each(in_row, &calls) == STINT_OK);
    CHECK(calls >= 3);
    CHECK(stint_set_each(in_set, &calls) == STINT_OK);
}

static int lines;

/* The cases end with the callback taken away, so the lines of its calls go to stderr. */
static void in_line(void *data, int level, const char *line) {
    (void)data, (void)level, (void)line;
    if (!lines++) {
        check_cases();
    }
}

TEST(api_input, from_the_callback_for_lines) {
    prepare();
    CHECK(stint_log_set(in_line, NULL) == STINT_OK);
    CHECK(stint_report("nonsense") == STINT_ERROR_UNKNOWN);
    CHECK(lines == 1);
}

static void after_steps(void *calls, uint64_t first, uint64_t last) {
    (void)first, (void)last;
    ++*(int *)calls;
    stint_reset();
    timed("known", 7);
    check_cases();
}

TEST(api_input, from_the_callback_of_a_schedule) {
    int calls = 0;
    prepare();
    schedule = (stint_schedule){.record = 1};
    CHECK(stint_timers_schedule(&schedule, sizeof schedule, after_steps, &calls) == STINT_OK);
    memset(&schedule, 0, sizeof schedule);
    stint_step();
    stint_step();
    CHECK_EQ_U64((uint64_t)calls, 1);
}

static int early = -1;

/* Calls the interface before the program's main, when the environment was not read yet and nothing
 * was recorded. */
__attribute__((constructor)) static void before_main(void) {
    stint_stat s;
    early = stint_report_at_exit(NULL) | stint_log_set(NULL, NULL) |
            (stint_stat_get("early", &s, sizeof s) != STINT_ERROR_UNKNOWN) |
            stint_stat_each(NULL, ignore_stat, NULL) | stint_level_set(0) | (stint_now_us() == 0) |
            (strcmp(stint_version(), STINT_VERSION) != 0);
    stint_reset();
}

TEST(api_input, before_main) {
    CHECK_EQ_U64((uint64_t)early, 0);
}

/* Runs all cases again at the end of the child, after its report. */
static void at_exit(void) {
    int wrong = -1;
    quietly(&wrong);
    if (wrong) {
        _exit(1);
    }
}

TEST(api_input, in_a_handler_at_exit) {
    if (SANITIZED) {
        SKIP("a child that ends in its own way");
    }
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), 2);
        prepare();
        atexit(at_exit);
        exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}
