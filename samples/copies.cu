// SPDX-License-Identifier: Apache-2.0
// A loop whose control flow lives on the GPU, so that every step copies its conditions to the host
// and small values back and forth: 1200 copies in 200 steps. `copies --fewer` decides on the host
// what the host can decide, and makes 600. The profiler says so, and so does a comparison of both:
//
//     STINT_FILE=before.stint ./copies && STINT_FILE=after.stint ./copies --fewer
//     stint diff before.stint -- after.stint
//
// Exit: 0 the values are right, 1 they are not or CUDA failed, 77 there is no GPU.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <stint/stint.h>

namespace {

const int STEPS = 200;
const int WARM_UP = 3;

#define CUDA(call) must((call), #call, __LINE__)

void must(cudaError_t code, const char *call, int line) {
    if (code != cudaSuccess) {
        std::fprintf(stderr, "copies.cu:%d: %s: %s\n", line, call, cudaGetErrorString(code));
        std::exit(1);
    }
}

struct state {
    cudaStream_t stream;
    float *x; // on the GPU: the two numbers that are compared, what is chosen, and its copy
    float *y;
    float *chosen;
    float *kept;
    int *less;
    float *host; // pinned, one number
};

__global__ void less_than(const float *x, const float *y, int *less) {
    *less = *x < *y;
}

__global__ void fill(float value, float *to) {
    *to = value;
}

// The condition is computed on the GPU and asked for: the host waits for it.
bool ask(const state &s, const float *x, const float *y) {
    STINT_TIMER_ROLE("less_than", STINT_ROLE_OP);
    int less = 0;
    {
        STINT_TIMER_ROLE("compute", STINT_ROLE_COMPUTE);
        less_than<<<1, 1, 0, s.stream>>>(x, y, s.less);
        CUDA(cudaGetLastError());
        CUDA(cudaStreamSynchronize(s.stream));
    }
    CUDA(cudaMemcpy(&less, s.less, sizeof less, cudaMemcpyDeviceToHost));
    return less != 0;
}

void choose(const state &s, float value) {
    STINT_TIMER_ROLE("conditional_block", STINT_ROLE_OP);
    {
        STINT_TIMER_ROLE("compute", STINT_ROLE_COMPUTE);
        fill<<<1, 1, 0, s.stream>>>(value, s.chosen);
        CUDA(cudaGetLastError());
    }
    CUDA(cudaMemcpyAsync(s.kept, s.chosen, sizeof *s.kept, cudaMemcpyDeviceToDevice, s.stream));
}

float fetch(const state &s) {
    STINT_TIMER_ROLE("fetch", STINT_ROLE_OP);
    CUDA(cudaMemcpyAsync(s.host, s.kept, sizeof *s.host, cudaMemcpyDeviceToHost, s.stream));
    CUDA(cudaStreamSynchronize(s.stream));
    return *s.host;
}

// Six copies: two conditions, two choices, two results. Fewer: the numbers that are compared are
// constants, which the host knows, so the conditions and one of the choices need no GPU.
float step(const state &s, bool fewer) {
    STINT_TIMER_ROLE("step", STINT_ROLE_STEP);
    if (fewer) {
        choose(s, 2);
        const float first = fetch(s);
        return first + fetch(s);
    }
    choose(s, ask(s, s.x, s.y) ? 1.0f : 2.0f);
    const float first = fetch(s);
    choose(s, ask(s, s.y, s.x) ? 2.0f : 1.0f);
    return first + fetch(s);
}

int run(const state &s, int steps, bool fewer) {
    int wrong = 0;
    for (int i = 0; i < steps; ++i) {
        wrong += step(s, fewer) != 4.0f;
        stint_step();
    }
    return wrong;
}

} // namespace

int main(int argc, char **argv) {
    const bool fewer = argc > 1 && !std::strcmp(argv[1], "--fewer");
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "no GPU: %s\n",
                     cudaGetErrorString(code != cudaSuccess ? code : cudaErrorNoDevice));
        return 77;
    }
    state s;
    CUDA(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
    float *numbers = NULL;
    CUDA(cudaMalloc(reinterpret_cast<void **>(&numbers), 4 * sizeof *numbers));
    CUDA(cudaMalloc(reinterpret_cast<void **>(&s.less), sizeof *s.less));
    CUDA(cudaMallocHost(reinterpret_cast<void **>(&s.host), sizeof *s.host));
    s.x = numbers;
    s.y = numbers + 1;
    s.chosen = numbers + 2;
    s.kept = numbers + 3;
    const float values[] = {0.3f, 0.1f};
    CUDA(cudaMemcpy(numbers, values, sizeof values, cudaMemcpyHostToDevice));

    int wrong = run(s, WARM_UP, fewer);
    stint_profiler_start("All", "OpDetail");
    wrong += run(s, STEPS, fewer);
    stint_profiler_stop("total", NULL);
    stint_report("gpu");
    std::printf("%d of %d steps are wrong\n", wrong, WARM_UP + STEPS);

    CUDA(cudaFreeHost(s.host));
    CUDA(cudaFree(s.less));
    CUDA(cudaFree(numbers));
    CUDA(cudaStreamDestroy(s.stream));
    return wrong == 0 ? 0 : 1;
}
