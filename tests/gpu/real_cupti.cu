// SPDX-License-Identifier: Apache-2.0
// Compares CUPTI's figures with those from other sources: the kernel's own clock, events, counted
// copies. It uses the public interface alone: the profiler, and the JSON that it writes.
#include "real.h"
#include "real_json.h"

namespace {

const int KERNELS = 20;
const uint64_t EACH = 2 * MS;

// A table has one row of that name in these tests.
uint64_t number(const std::string &json, const char *table, const char *name, const char *key) {
    return json_sum(json, table, name, "", key);
}

} // namespace

// Sum of the records, sum of the events round each launch, sum of the kernels' own clocks.
TEST(cupti, kernel_time_is_the_kernels_own) {
    NEED_DEVICE();
    unsigned long long *took = NULL;
    unsigned long long own[KERNELS];
    unsigned long long total = 0;
    CUDA(cudaMalloc(&took, sizeof own));
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    stint_profiler_start("All", "Default");
    for (int i = 0; i < KERNELS; ++i) {
        REGISTER_GPU_TIMER("spin", stream);
        real_spin(stream, EACH, took + i);
    }
    CUDA(cudaStreamSynchronize(stream));
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    const std::string json = json_exported();
    stint_profiler_stop("total", NULL);
    if (!json_has_gpu(json)) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CUDA(cudaMemcpy(own, took, sizeof own, cudaMemcpyDeviceToHost));
    for (unsigned long long ns : own) {
        total += ns;
    }
    const uint64_t records = number(json, "kernels", "spin", "total_ns");
    CHECK_EQ_U64(number(json, "kernels", "spin", "calls"), KERNELS);
    CHECK(real_near(records, total, 5));
    CHECK(real_time_is(real_stat("spin").gpu_total_ns, records, 5));
    CHECK(number(json, "devices", "busy_ns", "busy_ns") >= records * 95 / 100);
    printf("# records %.3f ms, events %.3f ms, kernels' own %.3f ms\n", (double)records / 1e6,
           (double)real_stat("spin").gpu_total_ns / 1e6, (double)total / 1e6);
}

// 1200 copies are 1200, with their bytes, whatever the buffers did.
TEST(cupti, copies_are_counted) {
    NEED_DEVICE();
    const int copies = 1200;
    const size_t bytes = 4096;
    char *device = NULL, *host = NULL;
    CUDA(cudaMalloc(&device, bytes));
    CUDA(cudaMallocHost(&host, bytes));
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    stint_profiler_start("All", "Default");
    for (int i = 0; i < copies; ++i) {
        REGISTER_TIMER("copy");
        CUDA(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    const std::string json = json_exported();
    stint_profiler_stop("total", NULL);
    if (!json_has_gpu(json)) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CHECK_EQ_U64(number(json, "memory", "HtoD", "calls"), (uint64_t)copies);
    CHECK_EQ_U64(number(json, "memory", "HtoD", "bytes"), copies * bytes);
    CHECK_EQ_U64(number(json, "api", "cudaMemcpyAsync", "calls"), (uint64_t)copies);
    CHECK_EQ_U64(number(json, "stats", "copy", "device_calls"), (uint64_t)copies);
}

// CUPTI sees nothing more after the profiler stopped.
TEST(cupti, stop_is_a_full_stop) {
    NEED_DEVICE();
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    stint_profiler_start("All", "Default");
    real_spin(stream, EACH, NULL);
    CUDA(cudaStreamSynchronize(stream));
    stint_profiler_stop("total", NULL);
    for (int i = 0; i < 5; ++i) {
        real_spin(stream, EACH, NULL);
    }
    CUDA(cudaStreamSynchronize(stream));
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    const std::string json = json_exported();
    if (!json_has_gpu(json)) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CHECK(number(json, "kernels", "spin", "calls") <= 1);
}

// Each session has all its kernels, with the times that the kernels took: none on another clock. A
// profile begins an interval: the figures are those of the session.
TEST(cupti, three_sessions_count_every_kernel) {
    NEED_DEVICE();
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    std::string json;
    for (int session = 1; session <= 3; ++session) {
        stint_profiler_start("All", "Default");
        for (int i = 0; i < KERNELS; ++i) {
            real_spin(stream, EACH, NULL);
        }
        CUDA(cudaStreamSynchronize(stream));
        stint_profiler_stop("total", NULL);
        CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
        json = json_exported();
        if (!json_has_gpu(json)) {
            SKIP("no CUPTI, or another tool holds it");
        }
        CHECK_EQ_U64(number(json, "kernels", "spin", "calls"), (uint64_t)KERNELS);
        CHECK(number(json, "kernels", "spin", "min_ns") >= EACH * 95 / 100);
    }
    CHECK(json.find("activity_bad") == std::string::npos);
    CHECK(real_near(number(json, "kernels", "spin", "total_ns"), KERNELS * EACH, 10));
}

// The launches of a graph belong to the scope that launched the graph.
TEST(cupti, graph_launches_have_their_scope) {
    NEED_DEVICE();
    cudaStream_t stream = real_stream(cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaGraphExec_t program;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    real_spin(stream, MS, NULL);
    real_spin(stream, MS, NULL);
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&program, graph, 0));
    stint_profiler_start("All", "Default");
    {
        REGISTER_TIMER("graph");
        CUDA(cudaGraphLaunch(program, stream));
    }
    CUDA(cudaStreamSynchronize(stream));
    CHECK_EQ_U64((uint64_t)stint_gpu_flush(), 0);
    const std::string json = json_exported();
    stint_profiler_stop("total", NULL);
    if (!json_has_gpu(json)) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CHECK_EQ_U64(number(json, "stats", "graph", "device_calls"), 2);
}
