// SPDX-License-Identifier: Apache-2.0
// GPU times of scopes on a real GPU, compared with the GPU's own clock, which the kernel reads.
// A scope waits for the GPU only with STINT_GPU=sync.
#include "real.h"

#include <pthread.h>

// The kernel knows how long it ran. Launching adds some microseconds to 20 ms.
TEST(events, time_is_the_kernels_own) {
    NEED_DEVICE();
    unsigned long long *took = NULL; // on the GPU
    unsigned long long own[5];
    unsigned long long total = 0;
    CUDA(cudaMalloc(&took, sizeof own));
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    const uint64_t waits = real_is_double() ? gpu_double_waits() : 0;
    for (int i = 0; i < 5; ++i) {
        REGISTER_GPU_TIMER("spin", stream);
        real_spin(stream, 20 * MS, took + i);
    }
    const stint_stat before = real_stat("spin");
    CHECK_EQ_U64(before.calls, 5);
    CHECK(real_at_most(before.total_ns, 50 * MS)); // the CPU has not waited for 100 ms of work
    CHECK(!real_is_double() || gpu_double_waits() == waits);
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CUDA(cudaMemcpy(own, took, sizeof own, cudaMemcpyDeviceToHost));
    for (unsigned long long ns : own) {
        total += ns;
    }
    const stint_stat s = real_stat("spin");
    CHECK_EQ_U64(s.gpu_calls, 5);
    CHECK(real_time_is(s.gpu_total_ns, total, 5));
    CHECK(s.gpu_min_ns >= 19 * MS && s.gpu_min_ns <= s.gpu_p50_ns);
    CHECK(real_at_most(s.gpu_max_ns, 22 * MS) && s.gpu_p50_ns <= s.gpu_p99_ns);
    printf("# events %.3f ms, kernels %.3f ms\n", (double)s.gpu_total_ns / 1e6,
           (double)total / 1e6);
}

TEST(events, many_streams) {
    NEED_DEVICE();
    cudaStream_t streams[64];
    for (cudaStream_t &stream : streams) {
        stream = real_stream(cudaStreamNonBlocking);
    }
    for (int round = 0; round < 8; ++round) {
        for (cudaStream_t stream : streams) {
            REGISTER_GPU_TIMER("one of many", stream);
            real_spin(stream, 1 * MS, NULL);
        }
    }
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    const stint_stat s = real_stat("one of many");
    CHECK_EQ_U64(s.gpu_calls, 64 * 8);
    CHECK(s.gpu_min_ns >= 95 * MS / 100); // more is possible: streams share queues
}

// A stream that is blocked for 300 ms: what does not fit is dropped at once, nothing waits.
TEST(events, in_flight_is_bounded) {
    NEED_DEVICE();
    setenv("STINT_GPU_IN_FLIGHT", "16", 1);
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    if (real_is_double()) {
        gpu_double_freeze(1);
    }
    real_spin(stream, 300 * MS, NULL);
    for (int i = 0; i < 100; ++i) {
        REGISTER_GPU_TIMER("queued", stream);
    }
    if (real_is_double()) {
        gpu_double_freeze(0);
    }
    CHECK(real_at_most(real_stat("queued").total_ns, 100 * MS));
    CHECK(real_footer(100 - 16, REAL_DROPPED));
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("queued").gpu_calls, 16);
    {
        REGISTER_GPU_TIMER("queued", stream); // there is room again
    }
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("queued").gpu_calls, 17);
}

TEST(events, sync_waits_for_the_kernel) {
    NEED_DEVICE();
    setenv("STINT_GPU", "sync", 1);
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    {
        REGISTER_GPU_TIMER("waited for", stream);
        real_spin(stream, 20 * MS, NULL);
    }
    const stint_stat s = real_stat("waited for"); // without a flush
    CHECK(s.total_ns >= 19 * MS);
    CHECK_EQ_U64(s.gpu_calls, 1);
    CHECK(real_time_is(s.gpu_total_ns, 20 * MS, 5));
}

TEST(events, off_has_cpu_time_only) {
    NEED_DEVICE();
    setenv("STINT_GPU", "off", 1);
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    {
        REGISTER_GPU_TIMER("cpu only", stream);
        real_spin(stream, 1 * MS, NULL);
    }
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("cpu only").calls, 1);
    CHECK_EQ_U64(real_stat("cpu only").gpu_calls, 0);
}

// The events outlive the stream they were recorded on.
TEST(events, stream_destroyed_after_its_scope) {
    NEED_DEVICE();
    for (int i = 0; i < 20; ++i) {
        cudaStream_t stream = real_stream(cudaStreamNonBlocking);
        {
            REGISTER_GPU_TIMER("short-lived", stream);
            real_spin(stream, 1 * MS, NULL);
        }
        CUDA(cudaStreamDestroy(stream));
    }
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    CHECK_EQ_U64(real_stat("short-lived").gpu_calls, 20);
    CHECK(real_stat("short-lived").gpu_min_ns >= 95 * MS / 100);
}

enum { CALLS = 200 };

static void *thread_main(void *) {
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    for (int i = 0; i < CALLS; ++i) {
        REGISTER_GPU_TIMER("threads", stream);
        real_spin(stream, 20000, NULL);
        if (i % 16 == 15) {
            CUDA(cudaStreamSynchronize(stream)); // 16 x 16 in flight at most: none is dropped
        }
    }
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaStreamDestroy(stream));
    return NULL;
}

TEST(events, threads_1_to_16) {
    NEED_DEVICE();
    uint64_t expected = 0;
    for (int count = 1; count <= 16; count *= 2) {
        pthread_t threads[16];
        for (int i = 0; i < count; ++i) {
            CHECK(pthread_create(threads + i, NULL, thread_main, NULL) == 0);
        }
        for (int i = 0; i < count; ++i) {
            pthread_join(threads[i], NULL);
        }
        expected += (uint64_t)count * CALLS;
        CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
        CHECK_EQ_U64(real_stat("threads").gpu_calls, expected);
    }
    CHECK(real_stat("threads").gpu_min_ns >= 19000);
}
