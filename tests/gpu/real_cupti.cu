// SPDX-License-Identifier: Apache-2.0
// Compares CUPTI's figures with those from other sources: the kernel's own clock, events, counted
// copies. It uses the public interface alone: the profiler, and the JSON that it writes.
#include "real.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

const int KERNELS = 20;
const uint64_t EACH = 2 * MS;

std::string exported() {
    char path[] = "/tmp/stint-real-cupti-XXXXXX";
    const int fd = mkstemp(path);
    close(fd);
    CHECK(stint_export(path, "json") == 0);
    std::string text;
    FILE *f = std::fopen(path, "r");
    char piece[4096];
    for (size_t n; f && (n = std::fread(piece, 1, sizeof piece, f)) > 0;) {
        text.append(piece, n);
    }
    if (f) {
        std::fclose(f);
    }
    unlink(path);
    return text;
}

// The number after `key` in the first object of the array `table` whose name holds `name`.
uint64_t number(const std::string &json, const char *table, const char *name, const char *key) {
    size_t at = json.find("\"" + std::string(table) + "\":[");
    const size_t end = at == std::string::npos ? at : json.find("]", at);
    while (at != std::string::npos && at < end) {
        const size_t object = json.find("{", at);
        const size_t close = object == std::string::npos ? object : json.find("}", object);
        if (close == std::string::npos || close > end) {
            return 0;
        }
        const std::string row = json.substr(object, close - object);
        const size_t found = row.find("\"" + std::string(key) + "\":");
        if (row.find(name) != std::string::npos && found != std::string::npos) {
            return std::strtoull(row.c_str() + found + std::strlen(key) + 3, NULL, 10);
        }
        at = close + 1;
    }
    return 0;
}

} // namespace

// Sum of the records, sum of the events round each launch, sum of the kernels' own clocks.
TEST(gpu_cupti, kernel_time_is_the_kernels_own) {
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
    const std::string json = exported();
    stint_profiler_stop("total", NULL);
    if (json.find("\"gpu\":{") == std::string::npos) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CUDA(cudaMemcpy(own, took, sizeof own, cudaMemcpyDeviceToHost));
    for (unsigned long long ns : own) {
        total += ns;
    }
    const uint64_t records = number(json, "kernels", "spin", "total_ns");
    CHECK_EQ_U64(number(json, "kernels", "spin", "calls"), KERNELS);
    CHECK(real_near(records, total, 5));
    CHECK(real_near(records, real_stat("spin").gpu_total_ns, 5));
    CHECK(number(json, "devices", "busy_ns", "busy_ns") >= records * 95 / 100);
    printf("# records %.3f ms, events %.3f ms, kernels' own %.3f ms\n", (double)records / 1e6,
           (double)real_stat("spin").gpu_total_ns / 1e6, (double)total / 1e6);
}

// 1200 copies are 1200, with their bytes, whatever the buffers did.
TEST(gpu_cupti, copies_are_counted) {
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
    const std::string json = exported();
    stint_profiler_stop("total", NULL);
    if (json.find("\"gpu\":{") == std::string::npos) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CHECK_EQ_U64(number(json, "memory", "HtoD", "calls"), (uint64_t)copies);
    CHECK_EQ_U64(number(json, "memory", "HtoD", "bytes"), copies * bytes);
    CHECK_EQ_U64(number(json, "api", "cudaMemcpyAsync", "calls"), (uint64_t)copies);
    CHECK_EQ_U64(number(json, "stats", "copy", "device_calls"), (uint64_t)copies);
}

// CUPTI sees nothing more after the profiler stopped.
TEST(gpu_cupti, stop_is_a_full_stop) {
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
    const std::string json = exported();
    if (json.find("\"gpu\":{") == std::string::npos) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CHECK(number(json, "kernels", "spin", "calls") <= 1);
}

// Each session has all its kernels, with the times that the kernels took: none on another clock.
TEST(gpu_cupti, three_sessions_count_every_kernel) {
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
        json = exported();
        if (json.find("\"gpu\":{") == std::string::npos) {
            SKIP("no CUPTI, or another tool holds it");
        }
        CHECK_EQ_U64(number(json, "kernels", "spin", "calls"), (uint64_t)(session * KERNELS));
        CHECK(number(json, "kernels", "spin", "min_ns") >= EACH * 95 / 100);
    }
    CHECK(json.find("activity_bad") == std::string::npos);
    CHECK(real_near(number(json, "kernels", "spin", "total_ns"), 3 * KERNELS * EACH, 10));
}

// The launches of a graph belong to the scope that launched the graph.
TEST(gpu_cupti, graph_launches_have_their_scope) {
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
    const std::string json = exported();
    stint_profiler_stop("total", NULL);
    if (json.find("\"gpu\":{") == std::string::npos) {
        SKIP("no CUPTI, or another tool holds it");
    }
    CHECK_EQ_U64(number(json, "stats", "graph", "device_calls"), 2);
}

HARNESS_MAIN()
