// SPDX-License-Identifier: Apache-2.0
// Four streams: each step copies in, computes and copies out on each of them, and STINT_GPU_TIMER
// measures CPU and GPU time separately. Then the same work as a CUDA graph. A profiler that waits
// for the capture range captures only what comes after the warm-up:
//
//     nsys profile -c cudaProfilerApi --capture-range-end=stop ./streams
//
// Exit: 0 the values are right, 1 they are not or CUDA failed, 77 there is no GPU.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <stint/stint.h>

namespace {

const int STREAMS = 4;
const int STEPS = 12;
const int WARM_UP = 2;
const int LAUNCHES = 5;    // of the graph
const int COUNT = 1 << 22; // floats a stream
const size_t BYTES = COUNT * sizeof(float);
const unsigned BLOCK = 256;

#define CUDA(call) must((call), #call, __LINE__)

void must(cudaError_t code, const char *call, int line) {
    if (code != cudaSuccess) {
        std::fprintf(stderr, "streams.cu:%d: %s: %s\n", line, call, cudaGetErrorString(code));
        std::exit(1);
    }
}

struct lane {
    cudaStream_t stream;
    float *host_x; // pinned: a copy is asynchronous only from there
    float *host_y;
    float *x;
    float *y;
};

__global__ void saxpy(float a, const float *x, float *y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < COUNT) {
        y[i] = a * x[i] + y[i];
    }
}

// Small whole numbers, so that every sum is exact and the check needs no tolerance.
float first_x(int i) {
    return static_cast<float>(i % 17);
}
float first_y(int i) {
    return static_cast<float>(i % 5);
}

void open_lane(lane &l) {
    STINT_TIMER("open");
    CUDA(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
    CUDA(cudaMallocHost(reinterpret_cast<void **>(&l.host_x), BYTES));
    CUDA(cudaMallocHost(reinterpret_cast<void **>(&l.host_y), BYTES));
    CUDA(cudaMalloc(reinterpret_cast<void **>(&l.x), BYTES));
    CUDA(cudaMalloc(reinterpret_cast<void **>(&l.y), BYTES));
    for (int i = 0; i < COUNT; ++i) {
        l.host_x[i] = first_x(i);
        l.host_y[i] = first_y(i);
    }
    CUDA(cudaMemcpyAsync(l.y, l.host_y, BYTES, cudaMemcpyHostToDevice, l.stream));
}

void close_lane(lane &l) {
    CUDA(cudaFree(l.y));
    CUDA(cudaFree(l.x));
    CUDA(cudaFreeHost(l.host_y));
    CUDA(cudaFreeHost(l.host_x));
    CUDA(cudaStreamDestroy(l.stream));
}

// y += 2 x, with x from the host and y back to it. Returns at once: the CPU times of these scopes
// are what enqueueing costs, the GPU times what the work takes.
void enqueue(const lane &l) {
    {
        STINT_GPU_TIMER("copy in", l.stream);
        STINT_TIMER_BYTES(BYTES);
        CUDA(cudaMemcpyAsync(l.x, l.host_x, BYTES, cudaMemcpyHostToDevice, l.stream));
    }
    {
        STINT_GPU_TIMER("saxpy", l.stream);
        STINT_TIMER_BYTES(3 * BYTES); // reads x and y, writes y
        STINT_TIMER_FLOPS(2 * COUNT);
        saxpy<<<COUNT / BLOCK, BLOCK, 0, l.stream>>>(2, l.x, l.y);
        CUDA(cudaGetLastError());
    }
    {
        STINT_GPU_TIMER("copy out", l.stream);
        STINT_TIMER_BYTES(BYTES);
        CUDA(cudaMemcpyAsync(l.host_y, l.y, BYTES, cudaMemcpyDeviceToHost, l.stream));
    }
}

void run_steps(const lane (&lanes)[STREAMS], int steps) {
    for (int i = 0; i < steps; ++i) {
        {
            STINT_TIMER_ROLE("step", STINT_ROLE_STEP);
            for (const lane &l : lanes) {
                enqueue(l);
            }
            STINT_TIMER("wait");
            for (const lane &l : lanes) {
                CUDA(cudaStreamSynchronize(l.stream));
            }
        }
        stint_step();
    }
}

// Captured once, launched often. While the stream is captured nothing runs, so there is nothing to
// time: the scopes in enqueue() have their CPU time only, and the report's footer counts them.
void run_graph(const lane &l) {
    cudaGraph_t graph;
    cudaGraphExec_t program;
    {
        STINT_TIMER("graph.capture");
        CUDA(cudaStreamBeginCapture(l.stream, cudaStreamCaptureModeGlobal));
        enqueue(l);
        CUDA(cudaStreamEndCapture(l.stream, &graph));
        CUDA(cudaGraphInstantiateWithFlags(&program, graph, 0));
    }
    for (int i = 0; i < LAUNCHES; ++i) {
        STINT_GPU_TIMER("graph.launch", l.stream);
        CUDA(cudaGraphLaunch(program, l.stream));
    }
    CUDA(cudaStreamSynchronize(l.stream));
    CUDA(cudaGraphExecDestroy(program));
    CUDA(cudaGraphDestroy(graph));
}

int wrong_values(const lane &l, int rounds) {
    int wrong = 0;
    for (int i = 0; i < COUNT; ++i) {
        wrong += l.host_y[i] != first_y(i) + static_cast<float>(2 * rounds) * first_x(i);
    }
    return wrong;
}

} // namespace

int main() {
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0) {
        std::fprintf(stderr, "no GPU: %s\n",
                     cudaGetErrorString(code != cudaSuccess ? code : cudaErrorNoDevice));
        return 77;
    }
    lane lanes[STREAMS];
    for (lane &l : lanes) {
        open_lane(l);
    }
    run_steps(lanes, WARM_UP);
    {
        STINT_GPU_PROFILER("streams", "without the warm-up");
        run_steps(lanes, STEPS - WARM_UP);
        run_graph(lanes[0]);
    }
    int wrong = 0;
    for (int i = 0; i < STREAMS; ++i) {
        wrong += wrong_values(lanes[i], i == 0 ? STEPS + LAUNCHES : STEPS);
    }
    std::printf("%d of %d values are wrong\n", wrong, STREAMS * COUNT);
    stint_gpu_flush(); // all GPU times are in, those of the last step too
    stint_report("table");
    for (lane &l : lanes) {
        close_lane(l);
    }
    return wrong == 0 ? 0 : 1;
}
