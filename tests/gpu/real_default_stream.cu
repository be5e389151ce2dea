// SPDX-License-Identifier: Apache-2.0
// The meaning of NULL as a stream. The file is built twice: as it is, and with --default-stream
// per-thread. A scope of 10 ms on NULL holds the launch of 100 ms on a blocking stream. The legacy
// default stream waits for that stream, the per-thread one does not.
#include "real.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define SUITE per_thread_stream
static const uint64_t expected = 10 * MS;
static const int per_thread = 1;
#else
#define SUITE legacy_stream
static const uint64_t expected = 100 * MS;
static const int per_thread = 0;
#endif
#define IN_SUITE(suite, name) TEST(suite, name)

IN_SUITE(SUITE, null_is_the_default_stream) {
    NEED_DEVICE();
    cudaStream_t blocking = real_stream(cudaStreamDefault);
    CUDA(cudaDeviceSynchronize());
    {
        REGISTER_GPU_TIMER("null", NULL);
        real_spin(blocking, 100 * MS, NULL);
        real_spin_kernel<<<1, 1>>>(10 * MS, NULL);
        CUDA(cudaGetLastError());
    }
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    const stint_stat s = real_stat("null");
    CHECK_EQ_U64(s.gpu_calls, 1);
    CHECK(s.gpu_total_ns >= 95 * expected / 100);
    CHECK(real_at_most(s.gpu_total_ns, 12 * expected / 10));
    CHECK(!real_is_double() || gpu_double_default_records(per_thread) == 2);
    printf("# %.3f ms\n", (double)s.gpu_total_ns / 1e6);
}
