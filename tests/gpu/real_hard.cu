// SPDX-License-Identifier: Apache-2.0
// The end of programs, devices and processes on a real GPU, with GPU scopes in flight: exit, reset,
// fork, a sticky error. The program must end as without timers, and each scope is counted.
#include "real.h"

static void scopes(cudaStream_t stream, int count) {
    for (int i = 0; i < count; ++i) {
        REGISTER_GPU_TIMER("hard", stream);
        real_spin(stream, 1 * MS, NULL);
    }
}

// Calls run in a child process, forked before CUDA starts, and returns its wait status. run must
// not return.
static int in_child(void (*run)()) {
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(harness_child_seconds()); // the hang is told from other failures
        run();
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static void report_late() {
    { REGISTER_GPU_TIMER("late", NULL); }
    (void)stint_report("table");
}

// Two atexit handlers, one registered before CUDA starts, which runs after the driver's own, and
// one after it; then the exit report. A second of work is under way.
static void exit_in_flight() {
    setenv("STINT_REPORT", "table", 1);
    atexit(report_late);
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    atexit(report_late);
    scopes(stream, 10);
    real_spin(stream, 1000 * MS, NULL);
    scopes(stream, 10);
    exit(3);
}

TEST(hard, exit_with_work_in_flight) {
    const int missing = in_child([] { exit(real_missing() != NULL); });
    if (WIFEXITED(missing) && WEXITSTATUS(missing) == 1) {
        SKIP("no device");
    }
    const int status = in_child(exit_in_flight);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

// Scopes still in flight at a reset are lost or counted; those after it are measured again.
TEST(hard, device_reset_and_again) {
    NEED_DEVICE();
    uint64_t measured = 0;
    for (int round = 0; round < 3; ++round) {
        cudaStream_t stream = real_stream(cudaStreamNonBlocking);
        scopes(stream, 5);
        (void)stint_gpu_flush(); // of the scope that the last reset ended, it may say so
        measured += 5;
        CHECK_EQ_U64(real_stat("hard").gpu_calls, measured);
        {
            // Its context dies while it is open. A stream of the program's must not: it has to
            // exist until the end of the block.
            REGISTER_GPU_TIMER("hard", NULL);
            CUDA(cudaDeviceReset());
        }
    }
    CUDA(cudaFree(NULL));
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    scopes(stream, 20);
    CUDA(cudaDeviceReset()); // in flight
    stream = real_stream(cudaStreamNonBlocking);
    {
        REGISTER_GPU_TIMER("after", stream);
        real_spin(stream, 5 * MS, NULL);
    }
    (void)stint_gpu_flush();
    const stint_stat s = real_stat("hard");
    CHECK(s.gpu_calls >= measured && s.gpu_calls <= s.calls);
    CHECK(s.gpu_calls == 0 || s.gpu_min_ns >= 95 * MS / 100);
    CHECK(real_at_most(s.gpu_max_ns, 1000 * MS));
    CHECK_EQ_U64(real_stat("after").gpu_calls, 1);
    const uint64_t after = real_stat("after").gpu_total_ns;
    CHECK(real_time_is(real_is_double() ? after + s.gpu_total_ns : after, 5 * MS, 5));
}

// CUDA does not work in the child of a process that has started it: CPU times only, no call.
TEST(hard, fork_then_cpu_only) {
    NEED_DEVICE();
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    scopes(stream, 5);
    const int status = in_child([] {
        for (int i = 0; i < 3; ++i) {
            REGISTER_GPU_TIMER("child", NULL);
        }
        CHECK_EQ_U64(real_stat("child").calls, 3);
        CHECK_EQ_U64(real_stat("child").gpu_calls, 0);
        CHECK_EQ_U64(real_stat("hard").calls, 0);
        (void)stint_gpu_flush();
        _exit(4);
    });
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    scopes(stream, 5);
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("hard").gpu_calls, 10);
}

static __global__ void trap_kernel() {
    asm volatile("trap;");
}

// A kernel that faults: every call after it fails. The program must still see the error itself, and
// no time may come of it.
TEST(hard, sticky_error) {
    NEED_DEVICE();
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    scopes(stream, 5);
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    trap_kernel<<<1, 1, 0, stream>>>();
    usleep(100000);
    for (int i = 0; i < 2000; ++i) {
        REGISTER_GPU_TIMER("hard", stream);
    }
    CHECK(stint_gpu_flush() == STINT_ERROR_NOT_AVAILABLE);
    CHECK(cudaStreamSynchronize(stream) != cudaSuccess);
    CHECK_EQ_U64(real_stat("hard").calls, 2005);
    CHECK_EQ_U64(real_stat("hard").gpu_calls, 5);
    char *report = real_report();
    CHECK_CONTAINS(report, "GPU scopes with CPU time only: the GPU reported an error");
    free(report);
}

// Another device's stream while this one is current: its events belong there.
TEST(hard, stream_of_another_device) {
    NEED_DEVICE();
    int devices = 0;
    if (real_is_double()) {
        gpu_double_devices(2);
    }
    CUDA(cudaGetDeviceCount(&devices));
    if (devices < 2) {
        SKIP("one device only");
    }
    CUDA(cudaSetDevice(1));
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    CUDA(cudaSetDevice(0));
    CUDA(cudaFree(NULL));
    {
        REGISTER_GPU_TIMER("elsewhere", stream);
        CUDA(cudaSetDevice(1));
        real_spin(stream, 5 * MS, NULL);
        CUDA(cudaSetDevice(0));
    }
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("elsewhere").gpu_calls, 1);
    CHECK(real_near(real_stat("elsewhere").gpu_total_ns, 5 * MS, 5));
}
