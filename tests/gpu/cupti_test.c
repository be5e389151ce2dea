/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that the back end makes of CUPTI, and their order and moment, on the double of CUPTI:
 * start and stop, faults, fork, waiting for CUDA. Each case starts with a process that has made no
 * call of CUPTI.
 */

#include "cupti_seen.h"
#include "gpu/gpu.h"
#include "harness_threads.h"
#include "session/gpu_about.h"

TEST(cupti, nothing_is_asked_unless_wanted) {
    prepare();
    tracer_flush(1);
    tracer_stop();
    CHECK(!tracer_is_on());
    CHECK_STR_EQ(described(), "");
    CHECK_EQ_U64(cupti_double_calls_all(), 0);
}

TEST(cupti, is_asked_in_this_order) {
    begin();
    tracer_stop();
    CHECK_STR_EQ(cupti_double_order(),
                 "cuptiGetVersion cuptiActivityGetNextRecord cuptiSubscribe cuptiGetCallbackName "
                 "cuptiActivitySetAttribute cuptiSetThreadIdType cuptiGetTimestamp "
                 "cuptiActivityRegisterCallbacks "
                 "cuptiEnableCallback cuptiActivityEnable cuptiActivityEnableRuntimeApi "
                 "cuptiActivityEnableDriverApi cuptiActivityEnableAllSyncRecords "
                 "cuptiActivityDisable cuptiActivityFlushAll cuptiUnsubscribe");
    CHECK(!cupti_double_subscribed());
}

TEST(cupti, kinds_go_on_and_off) {
    static const uint32_t kinds[] = {10, 1, 22, 2, 38, 5, 4, 17, 49, 58, 56};
    begin();
    CHECK_EQ_U64(cupti_double_calls("cuptiActivityEnable"), 11);
    CHECK(!cupti_double_enabled(3)); /* kernels one after the other */
    for (unsigned i = 0; i < 11; ++i) {
        CHECK(cupti_double_enabled(kinds[i]));
    }
    tracer_stop();
    for (unsigned i = 0; i < 11; ++i) {
        CHECK(!cupti_double_enabled(kinds[i]));
    }
}

static void start_in_vain(NO_ARG) {
    CHECK(tracer_start() == -1);
    CHECK(tracer_start() == -1); /* and says so once */
}

static void check_refused(const char *why) {
    char line[300];
    snprintf(line, sizeof line, "stint: no GPU activities: %s; timers and captures go on\n", why);
    CHECK_STR_EQ(harness_capture(2, start_in_vain, NULL), line);
    CHECK(!strncmp(described(), "no cupti: ", 10));
    CHECK_STR_EQ(described() + 10, why);
    CHECK(!tracer_is_on());
    CHECK(!cupti_double_subscribed());
    tracer_stop();
    tracer_flush(1);
}

TEST(cupti, kernels_of_an_old_layout_are_refused) {
    prepare();
    cupti_double_stride(10, 144);
    check_refused("this CUPTI's kernel records, of 144 bytes, are not known");
}

TEST(cupti, too_old) {
    prepare();
    cupti_double_version(15);
    check_refused("this CUPTI is too old (version 15): CUDA 11.5 or later is needed");
}

TEST(cupti, held_by_another_tool) {
    prepare();
    cupti_double_fail("cuptiSubscribe=39");
    check_refused("cuptiSubscribe: another tool has CUPTI (nsys, ncu, cuda-gdb, a profiler)");
    cupti_double_fail(NULL);
    CHECK(!tracer_start()); /* the other one has gone */
    CHECK_CONTAINS(described(), "cupti 13.1: 0 records");
    tracer_stop(); /* a start that failed needs none */
    CHECK(!tracer_is_on());
}

TEST(cupti, no_library) {
    setenv("STINT_CUPTI_LIB", "/nonexistent/libcupti.so.13", 1);
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_CONTAINS(said, "stint: no GPU activities: ");
    CHECK_CONTAINS(said, "/nonexistent/libcupti.so.13: ");
    CHECK_CONTAINS(said, "No such file or directory");
}

TEST(cupti, another_library) {
    setenv("STINT_CUPTI_LIB", DOUBLE_LIBRARY, 1); /* the driver's */
    char *said = harness_capture(2, start_in_vain, NULL);
    CHECK_CONTAINS(said, "this CUPTI lacks cuptiGetVersion: CUDA 11.5 or later is needed");
}

static void check_without_driver(const char *fault) {
    prepare();
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so.1", 1);
    cupti_double_fail(fault);
    check_refused("no CUDA driver: no /nonexistent/libcuda.so.1");
}

TEST(cupti, without_a_driver) {
    check_without_driver("cuptiSubscribe=999");
}

/* CUPTI 11.7, 11.8 and 12.4 return 15 where 13.0 returns 999. */
TEST(cupti, without_a_driver_by_another_code) {
    check_without_driver("cuptiSubscribe=15");
}

/* CUPTI 13.5 returns 999 from each function, that for its version too, where it finds no
 * libcuda.so.1 (libcupti.so.13 of the PyPI package nvidia-cuda-cupti 13.5.25). */
TEST(cupti, without_a_driver_nothing_is_answered) {
    check_without_driver("cuptiGetVersion=999");
}

/* cuInit fails with 100 then, and every call of the driver with 3 after that, as in libcuda 550. */
TEST(cupti, without_a_device) {
    prepare();
    double_reset();
    cupti_double_fail("cuptiSubscribe=15");
    check_refused("cuptiSubscribe: it cannot be initialised; the CUDA driver has no device or is "
                  "not initialised");
}

TEST(cupti, an_older_one_lacks_what_is_not_required) {
    setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_OLD_LIBRARY, 1);
    CHECK(!tracer_start());
    CHECK(tracer_is_on());
    tracer_stop();
    CHECK(!tracer_is_on());
}

/* ---- On and off. ---- */

TEST(cupti, nests) {
    begin();
    CHECK(!tracer_start());
    tracer_stop();
    CHECK(tracer_is_on() && cupti_double_subscribed());
    tracer_stop();
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
    tracer_stop(); /* one too many */
    CHECK(!tracer_start());
    CHECK(tracer_is_on() && cupti_double_subscribed());
    CHECK_EQ_U64(cupti_double_calls("cuptiGetVersion"), 1);
    tracer_stop();
    CHECK(!tracer_is_on());
}

TEST(cupti, scopes_of_launches) {
    begin();
    {
        REGISTER_TIMER("train");
        cupti_double_launch(&add_kernel);
    }
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_UNKNOWN), 0);
}

static void call_again(const char *function, void *data) {
    int *depth = data;
    CHECK(!strcmp(function, "cuptiActivityGetNumDroppedRecords") || ++*depth < 1000);
    tracer_flush(1);
    CHECK(tracer_start() == -1);
    tracer_stop();
    CHECK_STR_EQ(described(), "");
}

TEST(cupti, calls_from_within_do_nothing) {
    int depth = 0;
    begin();
    cupti_double_launch(&add_kernel);
    cupti_double_hook(call_again, &depth);
    tracer_flush(1);
    tracer_stop();
    CHECK(!tracer_is_on());
    CHECK(depth > 0);
    cupti_double_hook(NULL, NULL);
    fake_advance(10000);
    tracer_flush(TRACER_COMPLETE);
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
}

#define THREADS 4

static void *start_and_stop(NO_ARG) {
    for (int i = 0; i < 50; ++i) {
        tracer_start();
        cupti_double_launch(&add_kernel);
        tracer_flush(i % 2);
        char text[100];
        tracer_describe(text, sizeof text);
        tracer_stop();
    }
    return NULL;
}

TEST(cupti, threads_start_and_stop_at_once) {
    prepare();
    threads_run(THREADS, start_and_stop, NULL, 0);
    CHECK(!tracer_is_on());
    CHECK(!cupti_double_subscribed());
    for (uint32_t kind = 1; kind < 50; ++kind) {
        CHECK(!cupti_double_enabled(kind));
    }
    begin();
}

TEST(cupti, errno_is_kept) {
    begin();
    errno = 77;
    cupti_double_launch(&add_kernel);
    tracer_flush(1);
    tracer_stop();
    tracer_start();
    described();
    CHECK(errno == 77);
}

/* ---- Forks. ---- */

static void check_child(void) {
    uint64_t calls = cupti_double_calls_all();
    CHECK(!tracer_is_on());
    CHECK(tracer_start() == -1);
    tracer_flush(1);
    tracer_stop();
    CHECK_STR_EQ(described(), "");
    CHECK_EQ_U64(cupti_double_calls_all(), calls);
    _exit(harness_result->failures != 0);
}

TEST(cupti, a_child_has_none) {
    begin();
    harness_in_child(check_child);
    cupti_double_call("cudaStreamCreate");
    tracer_flush(0);
    CHECK(seen_count == 1);
    CHECK(tracer_is_on());
}

TEST(cupti, a_child_of_a_process_without_may) {
    prepare();
    IN_CHILD() {
        begin();
        tracer_stop();
    }
}

/* Forks within a call of CUPTI, as a signal handler that interrupts it would; once for each
 * function. */
static char forked_in[2000];

static void fork_within(const char *function, void *data) {
    (void)data;
    if (strstr(forked_in, function)) {
        return;
    }
    strcat(strcat(forked_in, function), " ");
    pid_t child = fork();
    if (!child) { /* the interrupted call ends, here too */
        cupti_double_hook(NULL, NULL);
        return;
    }
    harness_ends_well(child);
}

static pid_t parent;

static void leave_child(void) {
    if (getpid() != parent) {
        check_child();
    }
}

TEST(cupti, forks_within_calls) {
    parent = getpid();
    prepare();
    cupti_double_hook(fork_within, NULL);
    tracer_start();
    CHECK_EQ_U64(cupti_double_calls("cuptiUnsubscribe"), 0); /* in a child, too */
    leave_child();
    cupti_double_launch(&add_kernel);
    cupti_double_wait(CUPTI_DOUBLE_ALL, 2, 0);
    tracer_flush(0);
    leave_child();
    tracer_stop();
    leave_child();
    CHECK(strstr(forked_in, "cuptiSubscribe") && strstr(forked_in, "cuptiUnsubscribe"));
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
}

/* ---- Before CUDA is initialised. ---- */

static void prepare_uninitialised(void) {
    prepare();
    double_reset();
}

static void wait_for_cuda(void) {
    prepare_uninitialised();
    CHECK(!tracer_start_when_ready());
    CHECK(tracer_is_waiting() && !tracer_is_on());
    stint_step();
    tracer_look(0);
    { REGISTER_GPU_TIMER("early", NULL); }
    tracer_flush(TRACER_WAIT);
    CHECK_EQ_U64(cupti_double_calls_all(), 0);
    CHECK_STR_EQ(described(), "no cupti: the program has not initialised CUDA");
}

TEST(cupti, a_step_finds_cuda) {
    wait_for_cuda();
    double_init();
    CHECK(!tracer_is_on());
    stint_step();
    CHECK(tracer_is_on() && !tracer_is_waiting());
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
    tracer_stop();
    CHECK(!tracer_is_on());
}

TEST(cupti, a_gpu_scope_finds_cuda) {
    wait_for_cuda();
    double_init();
    { REGISTER_GPU_TIMER("first", NULL); }
    CHECK(tracer_is_on());
}

static void scopes_of(const char *name) {
    REGISTER_TIMER_DYNAMIC(name);
}

/* The case of libstint.a, which the driver cannot load. */
TEST(cupti, a_new_scope_finds_cuda) {
    wait_for_cuda();
    scopes_of("before");
    CHECK(!tracer_is_on());
    CHECK_EQ_U64(cupti_double_calls_all(), 0);
    double_init();
    scopes_of("first");
    CHECK(tracer_is_on() && !tracer_is_waiting());
}

TEST(cupti, the_driver_says_that_it_is_being_initialised) {
    wait_for_cuda();
    tracer_look(1);
    CHECK(tracer_is_on());
}

TEST(cupti, a_profile_waits_for_cuda) {
    prepare_uninitialised();
    CHECK(!tracer_start_when_ready());
    CHECK(!tracer_start_when_ready()); /* two reasons */
    tracer_stop();
    CHECK(tracer_is_waiting());
    tracer_stop();
    CHECK(!tracer_is_waiting());
    double_init();
    stint_step();
    CHECK(!tracer_is_on());
    CHECK_EQ_U64(cupti_double_calls_all(), 0);
    CHECK(!tracer_start_when_ready());
    CHECK(tracer_is_on());
}

TEST(cupti, does_not_wait_without_a_driver) {
    prepare();
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so.1", 1);
    CHECK(!tracer_start_when_ready());
    CHECK(tracer_is_on());
}

static void find_cuda(NO_ARG) {
    stint_step();
    stint_step();
}

TEST(cupti, refused_when_cuda_is_found) {
    wait_for_cuda();
    double_init();
    cupti_double_fail("cuptiSubscribe=39");
    char *said = harness_capture(2, find_cuda, NULL);
    CHECK_STR_EQ(said, "stint: no GPU activities: cuptiSubscribe: another tool has CUPTI (nsys, "
                       "ncu, cuda-gdb, a profiler); timers and captures go on\n");
    CHECK(!tracer_is_on() && !tracer_is_waiting());
    tracer_stop();
}

TEST(cupti, a_thread_that_blocks_signals_does_not_open_it) {
    sigset_t all, before;
    wait_for_cuda();
    double_init();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    stint_step();
    CHECK(!tracer_is_on());
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    stint_step();
    CHECK(tracer_is_on());
}

static void use_cuda_in_child(void) {
    CHECK(tracer_is_waiting() && !tracer_is_on());
    double_init();
    stint_step();
    CHECK(tracer_is_on());
    cupti_double_launch(&add_kernel);
    wait_and_flush(2);
    CHECK(count_of(ACTIVITY_KERNEL) == 1);
    tracer_stop();
}

TEST(cupti, a_child_may_be_the_first_to_use_cuda) {
    setenv("STINT_GPU", "cupti", 1);
    prepare_uninitialised();
    tracer_at_load();
    harness_in_child(use_cuda_in_child);
    CHECK(tracer_is_waiting() && !tracer_is_on());
    double_init();
    stint_step();
    CHECK(tracer_is_on());
}

TEST(cupti, a_capture_waits_for_cuda) {
    setenv("STINT_GPU", "cupti", 1);
    setenv("STINT_CAPTURE", "train", 1);
    prepare_uninitialised();
    tracer_at_load();
    CHECK(!tracer_is_waiting());
    GPU_PROFILER_START("train");
    CHECK(tracer_is_waiting() && !tracer_is_on());
    double_init();
    stint_step();
    CHECK(tracer_is_on());
    GPU_PROFILER_STOP();
    CHECK(!tracer_is_on());
}

/* ---- Captures. ---- */

TEST(cupti, only_while_captured) {
    setenv("STINT_GPU", "cupti", 1);
    setenv("STINT_CAPTURE", "train", 1);
    prepare_initialised();
    tracer_at_load();
    CHECK(!tracer_is_on());
    {
        REGISTER_GPU_PROFILER("other");
        CHECK(!tracer_is_on());
    }
    for (int i = 0; i < 2; ++i) {
        REGISTER_GPU_PROFILER("train");
        CHECK(tracer_is_on() && cupti_double_subscribed());
        cupti_double_launch(&add_kernel);
    }
    CHECK(!tracer_is_on() && !cupti_double_subscribed());
    tracer_start(); /* the program's own goes on over the end of a capture */
    { REGISTER_GPU_PROFILER("train"); }
    CHECK(tracer_is_on());
    tracer_stop();
    CHECK(!tracer_is_on());
}

TEST(cupti, a_capture_alone_is_none) {
    setenv("STINT_CAPTURE", "train", 1);
    prepare_initialised();
    REGISTER_GPU_PROFILER("train");
    CHECK(!tracer_is_on());
    CHECK_EQ_U64(cupti_double_calls_all(), 0);
}

TEST(cupti, in_the_line_of_the_gpu) {
    char text[200];
    prepare_initialised();
    CHECK(!tracer_start());
    gpu_ops();
    gpu_about_describe(text, sizeof text);
    CHECK_STR_EQ(text, "driver; cupti 13.1: 0 records, 0.0 % of the run");
}
