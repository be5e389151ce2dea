/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a job: processes that have a piece of memory in common reduce through it, as
 * MPI_Allreduce does, and the first one prints. Their times are those of the fake clock, so the
 * text is known.
 */
#include <pthread.h>

#include "support.h"

#include "recorded.h"

#define PROCESSES 5u
#define VALUES 200000u
#define TEXT 60000u

/* The memory that the processes have in common. */
struct common {
    pthread_barrier_t barrier;
    uint32_t size;
    unsigned fail_at; /* the call of the callback that fails, from 1; 0 = none */
    int alone;        /* the callback returns this process's own values */
    int result[PROCESSES];
    unsigned calls[PROCESSES];
    unsigned refused[2][9], odd; /* of a callback that lies */
    uint64_t values[PROCESSES][VALUES];
    char text[TEXT];
};

static struct common *common;
static uint32_t my_rank;

/* As MPICH 4.0.2 does, which compares MPI_UINT64_T as signed numbers. */
static uint64_t reduce_two(int op, uint64_t a, uint64_t b) {
    int64_t x = (int64_t)a, y = (int64_t)b;
    switch (op) {
    case STINT_REDUCE_SUM:
        return a + b;
    case STINT_REDUCE_MIN:
        return x < y ? a : b;
    default:
        return x > y ? a : b;
    }
}

static int reduce_common(void *data, int op, uint64_t *values, size_t n) {
    CHECK(data == common && n && n <= VALUES);
    CHECK(op == STINT_REDUCE_SUM || op == STINT_REDUCE_MIN || op == STINT_REDUCE_MAX);
    if (++common->calls[my_rank] == common->fail_at) {
        return 41;
    }
    if (common->alone) {
        return 0;
    }
    memcpy(common->values[my_rank], values, n * sizeof *values);
    pthread_barrier_wait(&common->barrier);
    for (uint32_t rank = 0; rank < common->size; ++rank) {
        for (size_t i = 0; i < n; ++i) {
            uint64_t theirs = common->values[rank][i];
            values[i] = rank ? reduce_two(op, values[i], theirs) : theirs;
        }
    }
    pthread_barrier_wait(&common->barrier);
    errno = EDOM;
    return 0;
}

static void report_job_here(NO_ARG) {
    errno = ERANGE;
    common->result[my_rank] = stint_job_report(my_rank, common->size, reduce_common, common);
    CHECK(errno == ERANGE);
}

static void run_process(void (*record)(uint32_t rank)) {
    record(my_rank);
    char *text = harness_capture(2, report_job_here, NULL);
    if (!my_rank) {
        snprintf(common->text, TEXT, "%s", text);
    } else {
        CHECK_STR_EQ(text, common->result[my_rank] == STINT_ERROR_UNKNOWN ? text : "");
    }
}

static void job_make(uint32_t size) {
    pthread_barrierattr_t shared;
    common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    common->size = size;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&common->barrier, &shared, size);
    setenv("STINT_UNIT", "ns", 1);
}

/* Columns are as wide as their cells: of several spaces one is left. */
static void squeeze_spaces(char *text) {
    char *to = text;
    for (const char *from = text; *from; ++from) {
        if (*from != ' ' || to == text || to[-1] != ' ') {
            *to++ = *from;
        }
    }
    *to = 0;
}

/* Runs the processes of the job; the first one's text is in `common`. */
static void job_run(void (*record)(uint32_t rank)) {
    pid_t child[PROCESSES];
    for (uint32_t rank = 0; rank < common->size; ++rank) {
        my_rank = rank;
        child[rank] = fork();
        if (!child[rank]) {
            alarm(harness_child_seconds());
            run_process(record);
            _exit(0);
        }
    }
    for (uint32_t rank = 0; rank < common->size; ++rank) {
        int status = -1;
        waitpid(child[rank], &status, 0);
        CHECK_EQ_U64((uint64_t)status, 0);
    }
    squeeze_spaces(common->text);
}

static void wait_for(uint64_t ns) {
    REGISTER_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
    fake_advance(ns);
}

static void solve_for(uint64_t ns) {
    REGISTER_TIMER("solve");
    fake_advance(ns);
}

/* Four ranks of which rank 2 works longer. */
static void record_late(uint32_t rank) {
    static const uint64_t work[] = {100, 120, 500, 110};
    for (int i = 0; i < 10; ++i) {
        solve_for(work[rank]);
        wait_for(510 - work[rank]);
    }
    if (rank == 3) {
        timed("only", 7);
        CHECK(!stint_sample_add("caf\xc3\xa9 \xf0\x9f\x98\x80", 1));
    }
}

TEST(job_report, one_rank_is_late) {
    job_make(4);
    job_run(record_late);
    for (uint32_t rank = 0; rank < 4; ++rank) {
        CHECK_EQ_U64((uint64_t)common->result[rank], 0);
        CHECK_EQ_U64(common->calls[rank], common->calls[0]);
    }
    CHECK(strstr(common->text, "stint job: ") == common->text);
    CHECK(strstr(common->text, ", 4 ranks\n\n"));
    CHECK_CONTAINS(common->text, "barrier 4 10 12100 11700 rank 2 ");
    CHECK_CONTAINS(common->text, " 100 97.4 400 390 380\n");
    CHECK_CONTAINS(common->text,
                   "(stint merge of the run files tells whether a rank is the cause)");
    CHECK_CONTAINS(common->text, "solve 4 8300 11700 78.0 rank 2 5000 rank 0 1000 1100 "
                                 "2075\n");
    CHECK_CONTAINS(common->text, "\ncaf");
    CHECK(!strstr(common->text, "left out"));
    CHECK_CONTAINS(common->text, "only 1 7 21 100.0 rank 3 7 rank 0 0 0 1\n");
}

static void record_differing(uint32_t rank) {
    for (uint32_t i = 0; i <= rank; ++i) {
        wait_for(5);
    }
}

TEST(job_report, calls_that_differ) {
    job_make(3);
    job_run(record_differing);
    CHECK_CONTAINS(common->text, "3 at most");
}

static void record_nothing(uint32_t rank) {
    if (rank == 1) {
        timed("one", 3);
    }
}

TEST(job_report, processes_without_a_name) {
    job_make(3);
    job_run(record_nothing);
    CHECK_CONTAINS(common->text, "(no scope that several ranks have waits for others)\n");
    CHECK_CONTAINS(common->text, "\none 1 3");
}

#define MANY 3000u

/* Each rank has half of the names, in an order and with times of its own. */
static void record_many(uint32_t rank) {
    stint_set *set = stint_set_get("other");
    for (uint32_t i = 0; i < MANY; ++i) {
        char name[40];
        uint32_t number = (i * 7 + rank * 1000) % MANY;
        snprintf(name, sizeof name, "name %u", number);
        if (number % 2 == rank % 2 || number == 1234) {
            uint64_t ns = number + 1000 * rank;
            CHECK(!stint_sample_add(name, number == 1234 ? 10 * ns : ns));
        }
    }
    REGISTER_TIMER_DYNAMIC("name 1234", -1, set);
    fake_advance(90000000 + 20000 * rank);
}

TEST(job_report, thousands_of_names_in_any_order) {
    job_make(4);
    job_run(record_many);
    CHECK_EQ_U64((uint64_t)common->result[0], 0);
    CHECK_CONTAINS(common->text, "(2961 more)\n");
    CHECK(!strstr(common->text, "left out"));
    /* Ranks with 12340, 22340, 32340 and 42340 ns; beside it the same name of another set. A rank
     * without a name has 0. */
    CHECK_CONTAINS(common->text,
                   "\nname 1234 4 109360 60000 47.2 rank 3 42340 rank 0 12340 22340 27340\n");
    CHECK_CONTAINS(common->text, "\nname 2999 2 9998 13998 77.8 rank 3 5999 rank 0 0 0 2499\n");
    CHECK_CONTAINS(common->text, "\nname 1234 @other 4 360120000 120000 0.0 rank 3 90060000 "
                                 "rank 0 90000000 90020000 90030000\n");
}

TEST(job_report, a_callback_that_fails_ends_it) {
    job_make(3);
    common->fail_at = 9;
    job_run(record_late);
    for (uint32_t rank = 0; rank < 3; ++rank) {
        CHECK_EQ_U64((uint64_t)common->result[rank], 41);
        CHECK_EQ_U64(common->calls[rank], 9);
    }
    CHECK_STR_EQ(common->text, "");
}

TEST(job_report, a_callback_that_does_not_reduce_is_refused) {
    job_make(3);
    common->alone = 1;
    job_run(record_late);
    for (uint32_t rank = 0; rank < 3; ++rank) {
        CHECK(common->result[rank] == STINT_ERROR_UNKNOWN);
        CHECK_EQ_U64(common->calls[rank], 3);
    }
    CHECK_STR_EQ(common->text, "stint: stint_job_report: the callback reduced 1 processes with the "
                               "ranks 0 to 0, not 3\n");
}

/* ---- A callback that lies in one of its calls, in both processes. */

#define LIES 9

static struct {
    unsigned call, at, kind;
    int result;
} lie;

static int reduce_and_lie(void *data, int op, uint64_t *values, size_t n) {
    CHECK(!reduce_common(data, op, values, n));
    ++lie.call;
    for (size_t i = 0; lie.call == lie.at && i < n; ++i) {
        uint64_t v = values[i], noise = (lie.at + i) * 0x9e3779b97f4a7c15u, three = i ? v : 3;
        const uint64_t lies[LIES] = {0,     UINT64_MAX, INT64_MAX,        v + 1, v - 1,
                                     v / 2, noise,      0x41414141414141, three};
        values[i] = lies[lie.kind];
    }
    return 0;
}

static void report_lying(NO_ARG) {
    lie.result = stint_job_report(my_rank, 2, reduce_and_lie, common);
}

static void record_lies(uint32_t rank) {
    char name[881] = "";
    wait_for(7 + rank);
    timed("short", 5);
    for (int i = 0; i < 3; ++i) {
        memset(name, 'a' + i, sizeof name - 1);
        CHECK(!stint_sample_add(name, 3));
    }
    /* The first three calls check the callback. */
    for (unsigned i = 4 * LIES; lie.call >= lie.at || lie.result; ++i) {
        memset(&lie, 0, sizeof lie);
        lie.at = i / LIES;
        lie.kind = i % LIES;
        char *text = harness_capture(2, report_lying, NULL);
        int is_refused = lie.result == STINT_ERROR_UNKNOWN;
        common->refused[rank][lie.kind] += (unsigned)is_refused;
        common->odd += !is_refused && lie.result && lie.result != STINT_ERROR_NO_MEMORY;
        common->odd += is_refused == !strstr(text, "no reduction of this process's values");
    }
}

TEST(job_report, a_callback_that_lies_in_any_call) {
    static const unsigned expected[LIES] = {8, 22, 21, 8, 21, 9, 22, 22, 20};
    job_make(2);
    job_run(record_lies);
    CHECK(!common->odd);
    for (unsigned i = 0; i < 2 * LIES; ++i) {
        CHECK_EQ_U64(common->refused[i / LIES][i % LIES], expected[i % LIES]);
    }
}

static void report_badly(NO_ARG) {
    CHECK(stint_job_report(0, 1, NULL, NULL) == STINT_ERROR_UNKNOWN);
    CHECK(stint_job_report(3, 3, reduce_common, common) == STINT_ERROR_UNKNOWN);
}

TEST(job_report, arguments_that_are_not_valid) {
    job_make(1);
    char *text = harness_capture(2, report_badly, NULL);
    CHECK_EQ_U64(times_in(text, "expected a callback and a rank below the size"), 2);
    CHECK_EQ_U64(common->calls[0], 0);
}
