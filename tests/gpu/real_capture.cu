// SPDX-License-Identifier: Apache-2.0
// GPU timers beside and inside stream capture, and capture ranges of profilers, on a real GPU.
// Captures must succeed as without timers, and scopes under capture have CPU time only.
#include "real.h"

#include <pthread.h>

static int polling;
static int stop;

// Scopes that are always in flight, so that every end of one polls events. Nothing else here could
// break a capture: loading the kernel is over, and to wait for the stream is not done.
static void *poll_main(void *) {
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    __atomic_store_n(&polling, 1, __ATOMIC_RELAXED);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        for (int i = 0; i < 8; ++i) {
            REGISTER_GPU_TIMER("polling", stream);
            real_spin(stream, 100000, NULL);
        }
        usleep(1500); // 0.8 ms of work: no backlog
    }
    return NULL;
}

// Captures three kernels of 1 ms, the scopes around them included.
static cudaGraphExec_t capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
    cudaGraph_t graph = NULL;
    cudaGraphExec_t program = NULL;
    CUDA(cudaStreamBeginCapture(stream, mode));
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_TIMER("inside", stream);
        real_spin(stream, 1 * MS, NULL);
        usleep(1000); // so that the other thread polls meanwhile
    }
    if (CUDA(cudaStreamEndCapture(stream, &graph)) && CHECK(graph != NULL)) {
        CUDA(cudaGraphInstantiateWithFlags(&program, graph, 0));
        CUDA(cudaGraphDestroy(graph));
    }
    return program;
}

static void launch(cudaGraphExec_t program, cudaStream_t stream) {
    if (program) {
        REGISTER_GPU_TIMER("launch", stream);
        CUDA(cudaGraphLaunch(program, stream));
    }
}

// A query on any thread breaks a capture in the global mode, unless that thread is relaxed.
TEST(capture, survives_polls_of_another_thread) {
    NEED_DEVICE();
    pthread_t poller;
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    CHECK(pthread_create(&poller, NULL, poll_main, NULL) == 0);
    while (!__atomic_load_n(&polling, __ATOMIC_RELAXED)) {
        usleep(1000);
    }
    for (int i = 0; i < 20; ++i) {
        cudaGraphExec_t program = capture(stream, cudaStreamCaptureModeGlobal);
        launch(program, stream);
        CUDA(cudaStreamSynchronize(stream));
        if (program) {
            CUDA(cudaGraphExecDestroy(program));
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(poller, NULL);
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("inside").calls, 60);
    CHECK_EQ_U64(real_stat("inside").gpu_calls, 0);
    CHECK(real_footer(60, REAL_CAPTURED));
    CHECK_EQ_U64(real_stat("polling").gpu_calls, real_stat("polling").calls);
    const stint_stat s = real_stat("launch");
    CHECK_EQ_U64(s.gpu_calls, 20);
    CHECK(s.gpu_min_ns >= 95 * 3 * MS / 100); // an event before and after a launch measures it
}

// The other modes, and a scope that is open when the capture begins and one when it ends.
TEST(capture, survives_scopes_across_its_ends) {
    NEED_DEVICE();
    static const cudaStreamCaptureMode modes[] = {cudaStreamCaptureModeGlobal,
                                                  cudaStreamCaptureModeThreadLocal,
                                                  cudaStreamCaptureModeRelaxed};
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    for (cudaStreamCaptureMode mode : modes) {
        cudaGraph_t graph = NULL;
        {
            REGISTER_GPU_TIMER("ends inside", stream);
            real_spin(stream, 1 * MS, NULL);
            CUDA(cudaStreamBeginCapture(stream, mode));
        }
        {
            REGISTER_GPU_TIMER("begins inside", stream);
            real_spin(stream, 1 * MS, NULL);
            CUDA(cudaStreamEndCapture(stream, &graph));
        }
        CHECK(graph != NULL);
        CUDA(cudaGraphDestroy(graph));
        {
            REGISTER_GPU_TIMER("outside", stream);
            real_spin(stream, 1 * MS, NULL);
        }
    }
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("ends inside").gpu_calls, 0);
    CHECK_EQ_U64(real_stat("begins inside").gpu_calls, 0);
    CHECK_EQ_U64(real_stat("outside").gpu_calls, 3);
}

// A record on the legacy default stream while a blocking stream is captured would break the
// capture; even a query gets an error.
TEST(capture, survives_scopes_on_the_legacy_stream) {
    NEED_DEVICE();
    cudaGraph_t graph = NULL;
    cudaStream_t blocking = real_stream(cudaStreamDefault);
    CUDA(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal));
    real_spin(blocking, 1 * MS, NULL);
    for (int i = 0; i < 3; ++i) {
        REGISTER_GPU_TIMER("legacy", NULL);
    }
    CUDA(cudaStreamEndCapture(blocking, &graph));
    CHECK(graph != NULL);
    CUDA(cudaGraphDestroy(graph));
    CHECK_EQ_U64(real_stat("legacy").gpu_calls, 0);
    CHECK(real_footer(3, REAL_CAPTURED));
    CHECK(cudaGetLastError() == cudaSuccess); // the program's own error state is untouched
}

static void range_then_work(void *with_context) {
    if (*(const int *)with_context) {
        CUDA(cudaFree(NULL));
    }
    REGISTER_GPU_PROFILER("real", "outer");
    for (int i = 0; i < 2; ++i) {
        REGISTER_GPU_PROFILER("real", "inner");
        cudaStream_t stream = real_stream(cudaStreamNonBlocking);
        REGISTER_GPU_TIMER("in the range", stream);
        real_spin(stream, 1 * MS, NULL);
    }
}

// The line of the range, and none that says why nothing can be captured.
static void check_range(int with_context) {
    char *said = harness_capture(2, range_then_work, &with_context);
    CHECK_STR_EQ(said, "Enable GPU Profiler Stat: [real] \"outer\"\n");
    free(said);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("in the range").gpu_calls, 2);
}

TEST(capture, range_in_a_context) {
    NEED_DEVICE();
    check_range(1);
}

TEST(capture, range_before_the_first_context) {
    NEED_DEVICE();
    check_range(0);
}
