/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>

#include "recorded.h"

#define REASON "stint: nothing is captured: this version has no GPU back end\n"

static void expect(void (*body)(void *), const char *text) {
    char *have = harness_capture(2, body, NULL);
    CHECK_STR_EQ(have, text);
    free(have);
}

static void plain(void *unused) {
    (void)unused;
    REGISTER_GPU_PROFILER("plain");
}

static void with_info(void *unused) {
    (void)unused;
    REGISTER_GPU_PROFILER("range", "batch=32");
}

TEST(capture, line_and_reason) {
    expect(plain, "Enable GPU Profiler Stat: [plain]\n" REASON);
    expect(with_info, "Enable GPU Profiler Stat: [range] \"batch=32\"\n" REASON);
    expect(with_info, "Enable GPU Profiler Stat: [range] \"batch=32\"\n" REASON); /* each time */
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
}

static void nested(void *unused) {
    (void)unused;
    REGISTER_GPU_PROFILER("outer", "");
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_PROFILER("inner");
        plain(NULL);
    }
    GPU_PROFILER_START("started inside");
    GPU_PROFILER_STOP();
}

TEST(capture, only_the_outermost_speaks) {
    expect(nested, "Enable GPU Profiler Stat: [outer] \"\"\n" REASON);
    expect(plain, "Enable GPU Profiler Stat: [plain]\n" REASON);
}

static void started(void *unused) {
    (void)unused;
    GPU_PROFILER_START("started");
    GPU_PROFILER_START("again");
    plain(NULL);
    GPU_PROFILER_STOP();
    plain(NULL);
    GPU_PROFILER_STOP();
    plain(NULL);
}

TEST(capture, start_and_stop_balance) {
    expect(started, "Enable GPU Profiler Stat: [started]\n" REASON
                    "Enable GPU Profiler Stat: [plain]\n" REASON);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 0);
}

static void stray(void *unused) {
    (void)unused;
    GPU_PROFILER_STOP();
    GPU_PROFILER_STOP();
    plain(NULL);
}

TEST(capture, stray_stop_is_counted) {
    { REGISTER_TIMER("opens the ledger"); }
    expect(stray, "Enable GPU Profiler Stat: [plain]\n" REASON);
    CHECK_EQ_U64(lost(STINT_STATUS_CAPTURE_UNBALANCED), 2);
}

static void odd_texts(void *unused) {
    const char *name = NULL;
    (void)unused;
    { REGISTER_GPU_PROFILER("100 %s", "%n \"quoted\""); }
    { REGISTER_GPU_PROFILER("two\nlines", NULL); }
    GPU_PROFILER_START(name);
    GPU_PROFILER_STOP();
}

TEST(capture, odd_texts_stay_one_line) {
    expect(odd_texts, "Enable GPU Profiler Stat: [100 %s] \"%n \"quoted\"\"\n" REASON
                      "Enable GPU Profiler Stat: [two\\x0alines]\n" REASON
                      "Enable GPU Profiler Stat: []\n" REASON);
}

static pthread_barrier_t both_inside;

static void *inside(void *unused) {
    REGISTER_GPU_PROFILER("together");
    pthread_barrier_wait(&both_inside); /* would hang if ranges were serialised */
    return unused;
}

static void two_threads(void *unused) {
    pthread_t t[2];
    (void)unused;
    pthread_barrier_init(&both_inside, NULL, 2);
    for (int i = 0; i < 2; ++i) {
        CHECK(pthread_create(&t[i], NULL, inside, NULL) == 0);
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(t[i], NULL);
    }
}

TEST(capture, threads_share_one_range_and_do_not_wait) {
    expect(two_threads, "Enable GPU Profiler Stat: [together]\n" REASON);
    expect(plain, "Enable GPU Profiler Stat: [plain]\n" REASON); /* all closed again */
}

static void jumps_back(void *unused) {
    volatile int rounds = 0;
    (void)unused;
again:
    if (rounds < 1000) {
        REGISTER_GPU_PROFILER("round");
        ++rounds;
        goto again;
    }
}

TEST(capture, goto_closes_it) {
    char *text = harness_capture(2, jumps_back, NULL);
    size_t lines = 0;
    for (const char *p = text; p && (p = strchr(p, '\n')); ++p) {
        ++lines;
    }
    CHECK_EQ_U64(lines, 2000);
    free(text);
}

TEST(capture, begun_again_at_its_address_and_foreign_ends) {
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

static void forks(void *unused) {
    int status = 1;
    (void)unused;
    REGISTER_GPU_PROFILER("parent");
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        plain(NULL); /* the outermost of its own process */
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    plain(NULL); /* still inside */
}

TEST(capture, child_of_a_fork_has_its_own) {
    expect(forks, "Enable GPU Profiler Stat: [parent]\n" REASON
                  "Enable GPU Profiler Stat: [plain]\n" REASON);
}

TEST(capture, glog_prefix) {
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
    free(text);
}

TEST(capture, errno_is_kept) {
    errno = 1234;
    free(harness_capture(2, nested, NULL));
    errno = 1234;
    stray(NULL);
    CHECK(errno == 1234);
}

HARNESS_MAIN()
