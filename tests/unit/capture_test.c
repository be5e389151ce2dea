/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture ranges by their interface: balance, threads, forks, messages. The GPU back end is
 * fake_gpu.h, which counts starts and stops; they must alternate and end stopped.
 */
#include "capture/capture.h"
#include "harness_threads.h"

#include "fake_gpu.h"
#include "recorded.h"
#include "support.h"

#define REASON "stint: nothing is captured: no GPU here\n"
#define ENABLE(name) "Enable GPU Profiler Stat: [" name "]\n"

static void no_gpu(void) {
    fake_gpu.reason = "no GPU here";
}

static void expect(void (*body)(void *), const char *text) {
    CHECK_STR_EQ(harness_capture(2, body, NULL), text);
}

static void plain(NO_ARG) {
    REGISTER_GPU_PROFILER("plain");
}

static void with_info(NO_ARG) {
    REGISTER_GPU_PROFILER("range", "batch=32");
}

TEST(capture, line_and_reason) {
    no_gpu();
    expect(plain, "Enable GPU Profiler Stat: [plain]\n" REASON);
    expect(with_info, "Enable GPU Profiler Stat: [range] \"batch=32\"\n" REASON);
    expect(with_info, "Enable GPU Profiler Stat: [range] \"batch=32\"\n" REASON); /* each time */
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
}

static void nested(NO_ARG) {
    REGISTER_GPU_PROFILER("outer", "");
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_PROFILER("inner");
        plain(NULL);
    }
    GPU_PROFILER_START("started inside");
    GPU_PROFILER_STOP();
}

TEST(capture, only_the_outermost_speaks) {
    no_gpu();
    expect(nested, "Enable GPU Profiler Stat: [outer] \"\"\n" REASON);
    expect(plain, "Enable GPU Profiler Stat: [plain]\n" REASON);
}

static void started(NO_ARG) {
    GPU_PROFILER_START("started");
    GPU_PROFILER_START("again");
    plain(NULL);
    GPU_PROFILER_STOP();
    plain(NULL);
    GPU_PROFILER_STOP();
    plain(NULL);
}

TEST(capture, start_and_stop_balance) {
    no_gpu();
    expect(started, "Enable GPU Profiler Stat: [started]\n" REASON
                    "Enable GPU Profiler Stat: [plain]\n" REASON);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
}

static void stray(NO_ARG) {
    GPU_PROFILER_STOP();
    GPU_PROFILER_STOP();
    plain(NULL);
}

TEST(capture, stray_stop_is_counted) {
    no_gpu();
    { REGISTER_TIMER("opens the ledger"); }
    expect(stray, "Enable GPU Profiler Stat: [plain]\n" REASON);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 2);
}

static void odd_texts(NO_ARG) {
    const char *name = NULL;
    { REGISTER_GPU_PROFILER("100 %s", "%n \"quoted\""); }
    { REGISTER_GPU_PROFILER("two\nlines", NULL); }
    GPU_PROFILER_START(name);
    GPU_PROFILER_STOP();
}

TEST(capture, odd_texts_stay_one_line) {
    no_gpu();
    expect(odd_texts, "Enable GPU Profiler Stat: [100 %s] \"%n \"quoted\"\"\n" REASON
                      "Enable GPU Profiler Stat: [two\\nlines]\n" REASON
                      "Enable GPU Profiler Stat: []\n" REASON);
}

static pthread_barrier_t both_inside;

static void *inside(void *unused) {
    REGISTER_GPU_PROFILER("together");
    pthread_barrier_wait(&both_inside); /* would hang if ranges were serialised */
    return unused;
}

static void two_threads(NO_ARG) {
    pthread_barrier_init(&both_inside, NULL, 2);
    threads_run(2, inside, NULL, 0);
}

TEST(capture, threads_share_one_range_and_do_not_wait) {
    no_gpu();
    char *text = harness_capture(2, two_threads, NULL); /* one line by each of them */
    CHECK_CONTAINS(text, "Enable GPU Profiler Stat: [together]\n");
    CHECK_CONTAINS(text, REASON);
    CHECK_EQ_U64(strlen(text), strlen("Enable GPU Profiler Stat: [together]\n" REASON));
    expect(plain, "Enable GPU Profiler Stat: [plain]\n" REASON); /* all closed again */
}

static void jumps_back(NO_ARG) {
    volatile int rounds = 0;
again:
    if (rounds < 1000) {
        REGISTER_GPU_PROFILER("round");
        ++rounds;
        goto again;
    }
}

TEST(capture, goto_closes_it) {
    no_gpu();
    char *text = harness_capture(2, jumps_back, NULL);
    size_t lines = 0;
    for (const char *p = text; p && (p = strchr(p, '\n')); ++p) {
        ++lines;
    }
    CHECK_EQ_U64(lines, 2000);
}

TEST(capture, begun_again_at_its_address_and_foreign_ends) {
    no_gpu();
    uint64_t guard, other = UINT64_MAX;
    { REGISTER_TIMER("opens the ledger"); }
    for (int i = 0; i < 5000; ++i) { /* left by longjmp each time: more than the table holds */
        stint_impl_capture_begin(&guard, "left", NULL);
    }
    stint_impl_capture_end(&other);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 1);
    stint_impl_capture_end(&guard);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 1);
    expect(plain, "Enable GPU Profiler Stat: [plain]\n" REASON);
}

static void forks(NO_ARG) {
    REGISTER_GPU_PROFILER("parent");
    IN_CHILD() {
        plain(NULL); /* the outermost of its own process */
    }
    plain(NULL); /* still inside */
}

TEST(capture, child_of_a_fork_has_its_own) {
    no_gpu();
    expect(forks, "Enable GPU Profiler Stat: [parent]\n" REASON
                  "Enable GPU Profiler Stat: [plain]\n" REASON);
}

TEST(capture, glog_prefix) {
    no_gpu();
    int month = 0, fields = 0;
    setenv("STINT_LOG_PREFIX", "glog", 1);
    { REGISTER_TIMER("reads the environment"); }
    char *text = harness_capture(2, plain, NULL);
    /* Imdd hh:mm:ss.uuuuuu thread stint] */
    char *line = text && *text == 'I' ? strstr(text, " stint] ") : NULL;
    fields = text ? sscanf(text, "I%4d %*d:%*d:%*d.%*6d %*d stint]", &month) : 0;
    CHECK(fields == 1 && month >= 101 && month <= 1231);
    CHECK(line && !strncmp(line, " stint] Enable GPU Profiler Stat: [plain]\n", 42));
    CHECK_EQ_U64(line ? (uint64_t)(line - text) : 0, 27); /* a glog line's head, as in the origin */
}

TEST(capture, errno_is_kept) {
    errno = 1234;
    harness_capture(2, nested, NULL);
    errno = 1234;
    stray(NULL);
    CHECK(errno == 1234);
}

/* ---- With a GPU. */

static void body_nested(NO_ARG) {
    fake_context = 1;
    nested(NULL);
}

TEST(capture, only_the_outermost_starts_and_stops) {
    expect(body_nested, "Enable GPU Profiler Stat: [outer] \"\"\n");
    CHECK_CAPTURES(1);
    CHECK_EQ_U64(fake_gpu.started_in, 1);
    CHECK_EQ_U64(fake_gpu.stopped_in, 1);
    CHECK_EQ_U64(fake_gpu.enters, 0);
    expect(started, ENABLE("started") ENABLE("plain"));
    CHECK_CAPTURES(3);
}

/* ---- Threads. */

static void yields(void) {
    sched_yield();
}

static void *opens_and_closes(void *unused) {
    fake_context = 1;
    for (int i = 0; i < 3000; ++i) {
        REGISTER_GPU_PROFILER("threads");
        GPU_PROFILER_START("nested");
        GPU_PROFILER_STOP();
    }
    return unused;
}

static void eight_threads(NO_ARG) {
    fake_gpu.in_start = yields;
    threads_run(8, opens_and_closes, NULL, 0);
}

TEST(capture, starts_and_stops_alternate_and_end_stopped) {
    char *text = harness_capture(2, eight_threads, NULL);
    CHECK_CAPTURES(fake_gpu.starts);
    CHECK(fake_gpu.starts > 0 && !fake_gpu.running);
    CHECK(times_in(text, "Enable GPU Profiler Stat: [") >= fake_gpu.starts);
    CHECK_EQ_U64(times_in(text, "nothing"), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
}

static int tool_is_in, tool_may_go;

static void tool_takes_its_time(void) {
    __atomic_store_n(&tool_is_in, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&tool_may_go, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
}

static void *starts(void *unused) {
    fake_context = 1;
    GPU_PROFILER_START("slow tool");
    return unused;
}

TEST(capture, nobody_waits_for_a_tool_and_the_last_wish_wins) {
    pthread_t t;
    fake_gpu.in_start = tool_takes_its_time;
    CHECK(!pthread_create(&t, NULL, starts, NULL));
    while (!__atomic_load_n(&tool_is_in, __ATOMIC_ACQUIRE)) {
        sched_yield();
    }
    plain(NULL); /* inside, and back at once: would hang */
    GPU_PROFILER_STOP();
    CHECK_EQ_U64(fake_count(&fake_gpu.stops), 0);
    __atomic_store_n(&tool_may_go, 1, __ATOMIC_RELEASE);
    pthread_join(t, NULL);
    CHECK_CAPTURES(1);
    fake_gpu.in_start = NULL;
    fake_context = 1;
    plain(NULL);
    CHECK_CAPTURES(2);
}

static void cancellable(void) {
    pthread_testcancel();
}

/* Its line's write is a place to be cancelled at, too. */
static void *cancelled(void *unused) {
    fake_context = 1;
    pthread_cancel(pthread_self());
    GPU_PROFILER_START("cancelled");
    CHECK_EQ_U64(fake_gpu.starts, 1);
    pthread_testcancel();
    CHECK(0);
    return unused;
}

TEST(capture, cancelled_thread_leaves_nothing_half_done) {
    fake_gpu.in_start = cancellable;
    thread_run(cancelled, NULL);
    fake_gpu.in_start = NULL;
    fake_context = 1;
    GPU_PROFILER_STOP();
    CHECK_CAPTURES(1);
    plain(NULL);
    CHECK_CAPTURES(2);
}
