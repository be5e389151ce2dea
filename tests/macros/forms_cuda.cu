// SPDX-License-Identifier: Apache-2.0
// Timers in a CUDA file: in host code, and in functions that are compiled for the device too, where
// they are nothing. Never run.
#include <stint/stint.hpp>

#include "forms_header.h"
#include <string>

__device__ int on_device(int n) {
    REGISTER_TIMER("device");
    REGISTER_TIMER_INFO("device.info", "info");
    return n + 1;
}

__host__ __device__ int on_both(int n) {
    REGISTER_TIMER("both");
    REGISTER_TIMER("both.threshold", 1000);
    REGISTER_TIMER_FUNC();
    REGISTER_TIMER_SET("both.set", 0);
    REGISTER_TIMER_DYNAMIC("both.dynamic");
    REGISTER_TIMER_DYNAMIC_SET("both.dynamic", 0);
    REGISTER_TIMER_DETAIL("both.detail", 1);
    REGISTER_TIMER_ROLE("both.role", STINT_ROLE_COMPUTE);
    REGISTER_TIMER_OP("both.op", "instance");
    stint_sender sender = {{0, 0}};
    REGISTER_TIMER_UNDER("both.under", sender);
    REGISTER_GPU_PROFILER("both.capture");
    GPU_PROFILER_START("both.range");
    GPU_PROFILER_STOP();
    REGISTER_PROFILER("All", nullptr, "total", nullptr);
    stint_timer h = {{0, 0}};
    TIMER_BEGIN(h, "both.interval");
    TIMER_END(h);
    REGISTER_GPU_TIMER("both.gpu", nullptr);
    REGISTER_GPU_TIMER_INFO("both.gpu.info", nullptr, "info");
    REGISTER_CL_TIMER("both.cl", nullptr);
    REGISTER_CL_TIMER_INFO("both.cl.info", nullptr, "info");
    TIMER_BYTES(n);
    TIMER_FLOPS(2.0 * n);
    TIMER_MARK("both.mark");
    TIMER_VALUE("both.value", n);
    FOR_TIMING(n += 0;)
    return n + static_cast<int>(h.word[0]);
}

template <typename T> __global__ void kernel(T *data, int n) {
    REGISTER_TIMER("kernel");
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) {
        data[i] = static_cast<T>(on_device(i) + on_both(i));
    }
}

void launch(int *data, int n, const std::string &name) {
    REGISTER_TIMER("launch");
    REGISTER_TIMER("launch.set", -1, globalStat);
    REGISTER_TIMER_INFO("launch.info", name + "x");
    REGISTER_TIMER_DYNAMIC(name);
    REGISTER_TIMER_OP("launch.op", name);
    REGISTER_TIMER_SET("launch.start", stint_now_us());
    REGISTER_GPU_PROFILER("launch", "info");
    REGISTER_PROFILER("GPU", "OpDetail", "gpu", name.c_str());
    cudaStream_t stream = nullptr;
    REGISTER_GPU_TIMER("launch.gpu", stream);
    REGISTER_GPU_TIMER("launch.gpu.per_thread", cudaStreamPerThread);
    REGISTER_GPU_TIMER_INFO("launch.gpu.info", stream, name.c_str());
    TIMER_BYTES(sizeof(int) * static_cast<size_t>(n));
    const auto go = [=] {
        REGISTER_TIMER("launch.lambda");
        kernel<<<1, 32>>>(data, n);
    };
    go();
    (void)on_both(forms_inline(1, 0));
    (void)printAllStatus();
}
