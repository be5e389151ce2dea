// SPDX-License-Identifier: Apache-2.0
// truths TABLE: what only a GPU can say, as a table. Exit status 0, 1: CUDA failed, 77: it cannot
// be said here.
//
//     rules   which calls are legal beside a capture and in it, and keep it: 504 trials
//     gone    handles of a context that was reset, each in a process of its own
//     clock   CUPTI's clock (STINT_CUPTI_LIB) beside CLOCK_REALTIME
//     events  times between events beside the GPU's own clock
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "../real_spin.h"

namespace {

// A function of the driver, which the runtime has loaded; -1 if there is none.
template <typename F> struct driver_function {
    F function;
    template <typename... A> int operator()(A... arguments) const {
        return function ? static_cast<int>(function(arguments...)) : -1;
    }
};
template <typename F> driver_function<F> driver_find(const char *name) {
    static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    return {driver ? reinterpret_cast<F>(dlsym(driver, name)) : nullptr};
}
#define NAME_OF(name) #name
#define DRIVER(name) driver_find<decltype(&name)>(NAME_OF(name))

double now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

long long real_time_ns() {
    timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct objects {
    cudaStream_t captured, other;
    CUevent recorded, fresh;
    CUcontext context;
};
objects o;

cudaStream_t make_stream(unsigned flags) {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, flags);
    return stream;
}

void launch(cudaStream_t stream, unsigned long long ns, unsigned long long *took = nullptr) {
    real_spin_kernel<<<1, 1, 0, stream>>>(ns, took);
}

// ---- The rules of captures

struct call {
    const char *name;
    int (*run)();
};

const CUstream legacy = CU_STREAM_LEGACY;

const call calls[] = {
    {"cuEventQuery", [] { return DRIVER(cuEventQuery)(o.recorded); }},
    {"cuEventElapsedTime",
     [] {
         float ms;
         return DRIVER(cuEventElapsedTime)(&ms, o.recorded, o.recorded);
     }},
    {"cuEventCreate",
     [] {
         CUevent event;
         return DRIVER(cuEventCreate)(&event, 0u);
     }},
    {"cuEventDestroy", [] { return DRIVER(cuEventDestroy)(o.fresh); }},
    {"cuEventRecord, another stream", [] { return DRIVER(cuEventRecord)(o.recorded, o.other); }},
    {"cuEventRecord, the legacy stream", [] { return DRIVER(cuEventRecord)(o.recorded, legacy); }},
    {"cuEventSynchronize", [] { return DRIVER(cuEventSynchronize)(o.recorded); }},
    {"cuStreamIsCapturing, the captured stream",
     [] {
         CUstreamCaptureStatus status;
         return DRIVER(cuStreamIsCapturing)(o.captured, &status);
     }},
    {"cuStreamIsCapturing, the legacy stream",
     [] {
         CUstreamCaptureStatus status;
         return DRIVER(cuStreamIsCapturing)(legacy, &status);
     }},
    {"cuStreamGetCtx",
     [] {
         CUcontext context;
         const auto get = driver_find<CUresult (*)(CUstream, CUcontext *)>("cuStreamGetCtx");
         return get(o.captured, &context);
     }},
    {"cuCtxGetCurrent",
     [] {
         CUcontext context;
         return DRIVER(cuCtxGetCurrent)(&context);
     }},
    {"cuCtxGetId",
     [] {
         unsigned long long id;
         return DRIVER(cuCtxGetId)(o.context, &id);
     }},
    {"cuCtxPushCurrent and Pop",
     [] {
         CUcontext context;
         const int code = DRIVER(cuCtxPushCurrent)(o.context);
         return code ? code : DRIVER(cuCtxPopCurrent)(&context);
     }},
    {"cuDevicePrimaryCtxGetState",
     [] {
         unsigned flags;
         int active;
         return DRIVER(cuDevicePrimaryCtxGetState)(0, &flags, &active);
     }},
    {"cuDevicePrimaryCtxRetain and Release",
     [] {
         CUcontext context;
         const int code = DRIVER(cuDevicePrimaryCtxRetain)(&context, 0);
         return code ? code : DRIVER(cuDevicePrimaryCtxRelease)(0);
     }},
    {"cudaStreamSynchronize, another stream",
     [] { return static_cast<int>(cudaStreamSynchronize(o.other)); }},
    {"cuCtxSynchronize", [] { return driver_find<CUresult (*)()>("cuCtxSynchronize")(); }},
    {"cuProfilerStart and Stop",
     [] {
         const int code = driver_find<CUresult (*)()>("cuProfilerStart")();
         return code ? code : driver_find<CUresult (*)()>("cuProfilerStop")();
     }},
    {"cudaStreamCreateWithFlags",
     [] {
         cudaStream_t stream;
         return static_cast<int>(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
     }},
    {"a launch, another stream",
     [] {
         launch(o.other, 1000);
         return static_cast<int>(cudaGetLastError());
     }},
    {"cudaMalloc and cudaFree",
     [] {
         void *memory;
         const cudaError_t code = cudaMalloc(&memory, 64);
         return static_cast<int>(code ? code : cudaFree(memory));
     }},
};

struct trial {
    const call *made;
    bool relaxed;
    int code;
};

void *trial_run(void *data) {
    trial *t = static_cast<trial *>(data);
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (t->relaxed) {
        DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    }
    t->code = t->made->run();
    if (t->relaxed) {
        DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    }
    return nullptr;
}

void *trial_run_in_thread(void *data) {
    DRIVER(cuCtxPushCurrent)(o.context);
    return trial_run(data);
}

// Prints the code of the call, and whether the capture beside which it was made is kept.
void trial_print(const call &made, unsigned blocking, int mode, bool same, bool relaxed) {
    trial t = {&made, relaxed, 0};
    cudaGraph_t graph = nullptr;
    pthread_t thread;
    o.captured = make_stream(blocking ? cudaStreamDefault : cudaStreamNonBlocking);
    DRIVER(cuEventCreate)(&o.fresh, 0u);
    DRIVER(cuEventCreate)(&o.recorded, 0u);
    DRIVER(cuEventRecord)(o.recorded, o.other);
    cudaStreamSynchronize(o.other);
    if (cudaStreamBeginCapture(o.captured, static_cast<cudaStreamCaptureMode>(mode))) {
        std::printf(" no capture |");
        return;
    }
    launch(o.captured, 1000);
    if (same) {
        trial_run(&t);
    } else {
        pthread_create(&thread, nullptr, trial_run_in_thread, &t);
        pthread_join(thread, nullptr);
    }
    const cudaError_t ended = cudaStreamEndCapture(o.captured, &graph);
    std::printf(" %d %s |", t.code, !ended && graph ? "kept" : "lost");
    if (graph) {
        cudaGraphDestroy(graph);
    }
    cudaGetLastError();
    cudaStreamDestroy(o.captured);
}

int print_rules() {
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    launch(nullptr, 1000);
    if (cudaDeviceSynchronize()) {
        return 77;
    }
    o.other = make_stream(cudaStreamNonBlocking);
    DRIVER(cuCtxGetCurrent)(&o.context);
    std::printf("| call | captured stream | capture | its thread | its thread, relaxed | another "
                "thread | another thread, relaxed |\n|---|---|---|---|---|---|---|\n");
    for (const call &made : calls) {
        for (unsigned blocking = 0; blocking < 2; ++blocking) {
            for (int mode = 0; mode < 3; ++mode) {
                std::printf("| %s | %s | %s |", made.name, blocking ? "blocking" : "non-blocking",
                            modes[mode]);
                for (int how = 0; how < 4; ++how) {
                    trial_print(made, blocking, mode, how < 2, how & 1);
                }
                std::printf("\n");
            }
        }
    }
    return 0;
}

// ---- Handles of a context that was reset

unsigned long long id_of(CUcontext context, int *code) {
    unsigned long long id = 0;
    *code = DRIVER(cuCtxGetId)(context, &id);
    return id;
}

// Prints a cell; in a process of its own, which a signal may end.
void gone_try(int which, bool again) {
    unsigned long long id = 0;
    int code = -1;
    CUstreamCaptureStatus status;
    CUcontext context = nullptr;
    float ms;
    cudaFree(nullptr);
    const cudaStream_t stream = make_stream(cudaStreamNonBlocking);
    DRIVER(cuEventCreate)(&o.recorded, 0u);
    DRIVER(cuEventRecord)(o.recorded, stream);
    cudaStreamSynchronize(stream);
    DRIVER(cuCtxGetCurrent)(&o.context);
    const unsigned long long before = id_of(o.context, &code);
    cudaDeviceReset();
    if (again) {
        cudaFree(nullptr);
    }
    switch (which) {
    case 0:
        code = DRIVER(cuEventQuery)(o.recorded);
        break;
    case 1:
        code = DRIVER(cuEventElapsedTime)(&ms, o.recorded, o.recorded);
        break;
    case 2:
        code = DRIVER(cuEventDestroy)(o.recorded);
        break;
    case 3:
        code = DRIVER(cuStreamIsCapturing)(stream, &status);
        break;
    case 4:
        code = driver_find<CUresult (*)(CUstream, CUcontext *)>("cuStreamGetCtx")(stream, &context);
        break;
    case 5:
        code = DRIVER(cuCtxPushCurrent)(o.context);
        break;
    case 6:
        id = id_of(nullptr, &code);
        std::printf(" number %llu, before %llu,", id, before);
        break;
    default:
        code = DRIVER(cuCtxGetCurrent)(&context);
        if (context == o.context) {
            std::printf(" the same handle,");
        } else {
            std::printf(context ? " another handle," : " no handle,");
        }
    }
    std::printf(" code %d |", code);
    std::fflush(stdout);
    _exit(0);
}

int print_gone() {
    static const char *const names[] = {
        "cuEventQuery",   "cuEventElapsedTime", "cuEventDestroy",   "cuStreamIsCapturing",
        "cuStreamGetCtx", "cuCtxPushCurrent",   "cuCtxGetId(NULL)", "cuCtxGetCurrent"};
    std::printf("| after cudaDeviceReset | before the next call of the runtime | after it |\n"
                "|---|---|---|\n");
    for (int which = 0; which < 8; ++which) {
        std::printf("| %s |", names[which]);
        for (int again = 0; again < 2; ++again) {
            int status = 0;
            std::fflush(stdout);
            const pid_t child = fork();
            if (!child) {
                alarm(20);
                gone_try(which, again != 0);
            }
            waitpid(child, &status, 0);
            if (WIFSIGNALED(status)) {
                std::printf(" signal %d |", WTERMSIG(status));
            }
        }
        std::printf("\n");
    }
    return 0;
}

// ---- Clocks and times

int print_clock() {
    typedef int (*get_fn)(unsigned long long *);
    const int count = 200000;
    const char *path = std::getenv("STINT_CUPTI_LIB");
    void *cupti = dlopen(path ? path : "libcupti.so.13", RTLD_NOW);
    const get_fn get =
        cupti ? reinterpret_cast<get_fn>(dlsym(cupti, "cuptiGetTimestamp")) : nullptr;
    if (!get || cudaFree(nullptr)) {
        std::printf("no CUPTI, or no CUDA: %s\n", cupti ? "" : dlerror());
        return 77;
    }
    long long least = 1LL << 62, most = -least, outside = 0;
    double cost = 0;
    for (int i = 0; i < count; ++i) {
        unsigned long long theirs = 0;
        const long long before = real_time_ns();
        const double begun = now_ns();
        const int code = get(&theirs);
        cost += now_ns() - begun;
        const long long after = real_time_ns(), time = static_cast<long long>(theirs);
        if (code) {
            std::printf("cuptiGetTimestamp: %d\n", code);
            return 1;
        }
        least = std::min(least, time - before);
        most = std::max(most, time - before);
        outside += time < before || time > after;
    }
    std::printf("cuptiGetTimestamp less CLOCK_REALTIME before it: %lld to %lld ns; not between two "
                "readings: %lld of %d; a call: %.0f ns\n",
                least, most, outside, count, cost / count);
    return 0;
}

int print_events() {
    const cudaStream_t stream = make_stream(cudaStreamNonBlocking);
    unsigned long long *took, ns_took = 0;
    cudaEvent_t from, to;
    if (cudaMalloc(&took, sizeof *took) || cudaEventCreate(&from) || cudaEventCreate(&to)) {
        return 77;
    }
    launch(stream, 1000, took);
    cudaStreamSynchronize(stream);
    std::printf(
        "| kernel, ns | by %%globaltimer, median | by events, least | median | most | median "
        "less the kernel |\n|--:|--:|--:|--:|--:|--:|\n");
    for (unsigned long long ns : {0ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL, 20000000ULL}) {
        std::vector<double> by_events, by_kernel;
        for (int i = 0; i < (ns > 1000000 ? 20 : 200); ++i) {
            float ms = 0;
            cudaEventRecord(from, stream);
            launch(stream, ns, took);
            cudaEventRecord(to, stream);
            cudaStreamSynchronize(stream);
            cudaEventElapsedTime(&ms, from, to);
            cudaMemcpy(&ns_took, took, sizeof ns_took, cudaMemcpyDeviceToHost);
            by_events.push_back(static_cast<double>(ms) * 1e6);
            by_kernel.push_back(static_cast<double>(ns_took));
        }
        std::sort(by_events.begin(), by_events.end());
        std::sort(by_kernel.begin(), by_kernel.end());
        const double median = by_events[by_events.size() / 2];
        const double kernel = by_kernel[by_kernel.size() / 2];
        std::printf("| %llu | %.0f | %.0f | %.0f | %.0f | %.0f |\n", ns, kernel, by_events.front(),
                    median, by_events.back(), median - kernel);
    }
    return 0;
}

const call tables[] = {
    {"rules", print_rules}, {"gone", print_gone}, {"clock", print_clock}, {"events", print_events}};

} // namespace

int main(int argc, char **argv) {
    for (const call &table : tables) {
        if (argc == 2 && !std::strcmp(argv[1], table.name)) {
            return table.run();
        }
    }
    std::fprintf(stderr, "truths rules|gone|clock|events\n");
    return 2;
}
