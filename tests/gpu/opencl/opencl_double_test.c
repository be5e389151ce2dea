/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues over the double of OpenCL, exact to the nanosecond, and beside the double of CUDA's driver
 * in one process.
 */
#include <dlfcn.h>
#include <setjmp.h>

#include "../../unit/recorded.h"
#include "cuda_double.h"
#include "harness_threads.h"
#include "opencl_double.h"
#include "session/gpu_about.h"

static void time_queue(void *queue, uint64_t work) {
    STINT_CL_TIMER("scope", queue);
    cl_double_work(queue, work);
}

static void check_nothing_is_held(unsigned queues) {
    CHECK_EQ_U64(cl_double_queues(), queues);
    CHECK_EQ_U64(cl_double_events(), 0);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 0);
}

TEST(opencl_double, measures_the_queue_and_the_cpu) {
    void *q = cl_double_queue(0, 1);
    {
        STINT_CL_TIMER_INFO("both", q, "a note");
        cl_double_work(q, 3000001);
        fake_advance(700);
    }
    stint_gpu_flush();
    stint_stat both = stat_of("both");
    CHECK_EQ_U64(both.calls, 1);
    CHECK_EQ_U64(both.total_ns, 700);
    CHECK_EQ_U64(both.gpu_calls, 1);
    CHECK_EQ_U64(both.gpu_total_ns, 3000001);
    CHECK_EQ_U64(lost_in_all(), 0);
    check_nothing_is_held(1);
}

TEST(opencl_double, a_scope_does_not_wait_and_flushes_before_it_polls) {
    void *q = cl_double_queue(0, 1);
    cl_double_hold(q, 1);
    time_queue(q, 100);
    CHECK_EQ_U64(cl_double_calls("clWaitForEvents"), 0);
    CHECK_EQ_U64(arena_header()->gpu_in_flight, 1);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 0);
    cl_double_hold(q, 0); /* the double completes only what was flushed */
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 100);
    for (int i = 0; i < 10; ++i) {
        CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    }
    CHECK_EQ_U64(cl_double_calls("clFlush"), 1); /* of an event, not of a poll */
    check_nothing_is_held(1);
}

TEST(opencl_double, a_program_may_release_its_queue_in_the_scope) {
    void *inside = cl_double_queue(0, 1), *after = cl_double_queue(0, 1);
    int (*release)(void *) = NULL;
    *(void **)&release = dlsym(RTLD_DEFAULT, "clReleaseCommandQueue");
    if (!CHECK(release)) {
        return;
    }
    {
        STINT_CL_TIMER("inside", inside);
        cl_double_work(inside, 5);
        release(inside);
    }
    time_queue(after, 7);
    release(after);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("inside").gpu_total_ns, 5);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 7);
    check_nothing_is_held(0);
}

static void time_bad_queues(NO_ARG) {
    void *plain = cl_double_queue(0, 0);
    for (int i = 0; i < 3; ++i) {
        time_queue(plain, 10);
        STINT_CL_TIMER("none", NULL);
    }
}

TEST(opencl_double, says_once_what_is_wrong_with_a_queue) {
    char *said = harness_capture(2, time_bad_queues, NULL);
    CHECK_STR_EQ(said, "stint: OpenCL: a scope's queue was made without CL_QUEUE_PROFILING_ENABLE: "
                       "such scopes have CPU time only\n"
                       "stint: OpenCL: a scope's queue is NULL, as without a device: such scopes "
                       "have CPU time only\n");
    CHECK_EQ_U64(calls_of("scope"), 3);
    CHECK_EQ_U64(calls_of("none"), 3);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED), 3);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 3);
    check_nothing_is_held(1);
}

static void time_broken_work(void *queue) {
    cl_double_break(queue, -5);
    time_queue(queue, 10);
    cl_double_break(queue, 0);
    time_queue(queue, 20);
    stint_gpu_flush();
}

TEST(opencl_double, work_that_failed_is_counted_and_named) {
    char *said = harness_capture(2, time_broken_work, cl_double_queue(0, 1));
    CHECK_STR_EQ(said, "stint: OpenCL: the work before a marker returned CL_OUT_OF_RESOURCES (-5): "
                       "such scopes have CPU time only\n");
    CHECK_EQ_U64(stat_of("scope").calls, 2);
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 20);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED), 1);
    check_nothing_is_held(1);
}

TEST(opencl_double, an_end_that_cannot_be_recorded_holds_nothing) {
    void *q = cl_double_queue(0, 1);
    {
        STINT_CL_TIMER("scope", q);
        cl_double_fail("clEnqueueMarkerWithWaitList", -5);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED), 1);
    check_nothing_is_held(1);
}

/* The events of a scope that failed are used again. */
TEST(opencl_double, failures_take_no_memory) {
    void *q = cl_double_queue(0, 1);
    cl_double_fail("clGetEventInfo", -5);
    time_queue(q, 1);
    uint64_t before = harness_mapped();
    for (int i = 0; i < 20000; ++i) {
        time_queue(q, 1);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED), 20001);
    CHECK(SANITIZED || harness_mapped() < before + (64 << 12)); /* else 235 pages more */
}

static jmp_buf away;

static void leave_scope(void *queue) {
    STINT_CL_TIMER("left", queue);
    cl_double_work(queue, 10);
    longjmp(away, 1);
}

static void leave_in_scope(void *queue) {
    STINT_TIMER("around");
    if (!setjmp(away)) {
        leave_scope(queue);
    }
}

TEST(opencl_double, a_scope_that_was_left_holds_nothing) {
    void *q = cl_double_queue(0, 1), *other = cl_double_queue(0, 1);
    leave_in_scope(q);
    time_queue(other, 10);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, 1);
    check_nothing_is_held(2);
}

/* Events that are held although nothing asks for them. Those that cannot be released remain. */
static unsigned held_in_vain(const char *failed) {
    return strcmp(failed, "clReleaseEvent") ? cl_double_events() : 0;
}

/* Every function fails: no scope is lost on the CPU, and each is measured or counted as not. */
TEST(opencl_double, survives_every_fault) {
#define NAME_OF(name) #name,
    static const char *const functions[] = {OPENCL_DOUBLE_CALLS(NAME_OF)};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; ++i) {
        IN_CHILD() { /* from a state in which nothing was recorded */
            void *q = cl_double_queue(0, 1);
            cl_double_fail(functions[i], -5);
            for (int n = 0; n < 10; ++n) {
                time_queue(q, 10);
            }
            cl_double_fail(functions[i], 0);
            for (int n = 0; n < 10; ++n) {
                time_queue(q, 10);
            }
            stint_gpu_flush();
            stint_stat got = stat_of("scope");
            int right = got.calls == 20 && got.gpu_calls >= 10 &&
                        got.gpu_calls + lost(STINT_STATUS_GPU_FAILED) == 20 &&
                        arena_header()->gpu_in_flight == 0 && held_in_vain(functions[i]) == 0;
            if (!right) {
                fprintf(stderr, "%s: %llu calls, %llu on the GPU\n", functions[i],
                        (unsigned long long)got.calls, (unsigned long long)got.gpu_calls);
            }
            CHECK(right);
        }
    }
}

TEST(opencl_double, at_most_so_many_are_in_flight) {
    setenv("STINT_GPU_IN_FLIGHT", "8", 1);
    void *q = cl_double_queue(0, 1);
    cl_double_hold(q, 1);
    for (int i = 0; i < 20; ++i) {
        time_queue(q, 10);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_DROPPED), 12);
    cl_double_hold(q, 0);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 80);
    check_nothing_is_held(1);
}

TEST(opencl_double, more_queues_than_places) {
    enum { QUEUES = 300 };
    static void *queues[QUEUES];
    for (int i = 0; i < QUEUES; ++i) {
        queues[i] = cl_double_queue((unsigned)i % 2, 1);
        cl_double_hold(queues[i], 1);
        time_queue(queues[i], (uint64_t)i);
    }
    CHECK_EQ_U64(arena_header()->gpu_in_flight, QUEUES);
    for (int i = 0; i < QUEUES; ++i) {
        cl_double_hold(queues[i], 0);
    }
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_calls, QUEUES);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, QUEUES * (QUEUES - 1) / 2);
    check_nothing_is_held(QUEUES);
}

TEST(opencl_double, sync_waits) {
    setenv("STINT_GPU", "sync", 1);
    void *q = cl_double_queue(0, 1);
    cl_double_hold(q, 1);
    time_queue(q, 100);
    CHECK_EQ_U64(cl_double_calls("clWaitForEvents"), 1);
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 100);
}

TEST(opencl_double, off_calls_nothing) {
    setenv("STINT_GPU", "off", 1);
    void *q = cl_double_queue(0, 1);
    time_queue(q, 100);
    CHECK_EQ_U64(cl_double_calls("clGetCommandQueueInfo"), 0);
    CHECK_EQ_U64(calls_of("scope"), 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void *time_in_thread(void *shared) {
    void *own = cl_double_queue(0, 1);
    for (int i = 0; i < 100; ++i) {
        STINT_CL_TIMER("own", own);
        cl_double_work(own, 3);
        STINT_CL_TIMER("shared", shared);
    }
    return NULL;
}

TEST(opencl_double, many_threads) {
    setenv("STINT_GPU_IN_FLIGHT", "8192", 1);
    void *shared = cl_double_queue(0, 1);
    threads_run(16, time_in_thread, shared, 0);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("own").gpu_calls, 1600);
    CHECK_EQ_U64(stat_of("own").gpu_total_ns, 4800);
    CHECK_EQ_U64(stat_of("shared").gpu_calls, 1600);
    CHECK_EQ_U64(lost_in_all(), 0);
    check_nothing_is_held(17);
}

TEST(opencl_double, the_child_of_a_process_that_used_a_queue) {
    void *q = cl_double_queue(0, 1);
    time_queue(q, 10);
    IN_CHILD() {
        unsigned before = cl_double_calls("clEnqueueMarkerWithWaitList");
        time_queue(q, 10);
        CHECK_EQ_U64(cl_double_calls("clEnqueueMarkerWithWaitList"), before);
        CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 1);
    }
}

static unsigned calls_in_all(void) {
#define CALLS_OF(name) +cl_double_calls(#name)
    return 0 OPENCL_DOUBLE_CALLS(CALLS_OF);
}

static void *late_queue;

/* Runs after the handler by which the library learns of the end. */
static void end_late(void) {
    unsigned calls = calls_in_all();
    time_queue(late_queue, 10); /* it finds the scope that was left */
    _exit(calls_in_all() != calls);
}

TEST(opencl_double, no_call_is_made_at_the_end_of_the_program) {
    pid_t child = fork();
    if (child == 0) {
        atexit(end_late);
        late_queue = cl_double_queue(0, 1);
        leave_in_scope(late_queue);
        exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQ_U64((uint64_t)status, 0);
}

/* ---- Beside CUDA. */

static void time_stream(void *stream) {
    STINT_GPU_TIMER("stream", stream);
    double_launch(stream, 1000);
}

TEST(opencl_double, beside_cuda_each_has_its_own) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    double_init();
    void *q = cl_double_queue(1, 1), *s = double_stream_new(NULL);
    for (int i = 0; i < 5; ++i) {
        time_queue(q, 300);
        time_stream(s);
    }
    double_advance((uint64_t)1 << 40);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 1500);
    CHECK_EQ_U64(stat_of("stream").gpu_total_ns, 5000);
    CHECK_EQ_U64(lost_in_all(), 0);
    char text[200];
    gpu_about_describe(text, sizeof text);
    CHECK_STR_EQ(text, "driver, opencl");
}

/* A stream of a machine without CUDA is not a queue. */
TEST(opencl_double, does_not_get_the_streams_of_a_gpu_that_is_missing) {
    setenv("STINT_CUDA_LIB", "/nowhere/libcuda.so.1", 1);
    void *q = cl_double_queue(0, 1);
    char no_queue[64] = "";
    time_queue(q, 10);
    for (int i = 0; i < 3; ++i) {
        STINT_GPU_TIMER("stream", no_queue); /* the double aborts if it gets that */
    }
    time_queue(q, 10);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 20);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_NO_DEVICE), 3);
    char text[300];
    gpu_about_describe(text, sizeof text);
    CHECK_CONTAINS(text, "), opencl");
}

TEST(opencl_double, a_gpu_that_has_failed_leaves_the_queues) {
    setenv("STINT_CUDA_LIB", DOUBLE_LIBRARY, 1);
    double_reset();
    double_init();
    void *s = double_stream_new(NULL), *q = cl_double_queue(0, 1);
    double_fail("cuEventRecord:*=700");
    time_stream(s);
    time_queue(q, 10);
    time_stream(s);
    stint_gpu_flush();
    CHECK_EQ_U64(stat_of("scope").gpu_total_ns, 10);
    CHECK_EQ_U64(lost(STINT_STATUS_GPU_FAILED), 2);
}
