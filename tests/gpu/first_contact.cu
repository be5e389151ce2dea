// SPDX-License-Identifier: Apache-2.0
// first_contact CHECK: one check of a day on a GPU (day/first_day.sh). Prints what was seen; exit
// status 0: as expected, 1: not, 77: it cannot be done here.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "real_json.h"
#include "real_spin.h"
#include "whole_gpu.h"

namespace {

const uint64_t MS = 1000000;
const int SKIPPED = 77;

bool cuda(cudaError_t code, const char *what) {
    if (code != cudaSuccess) {
        std::printf("%s: %s\n", what, cudaGetErrorString(code));
    }
    return code == cudaSuccess;
}

bool spin(cudaStream_t stream, uint64_t ns) {
    real_spin_kernel<<<1, 1, 0, stream>>>(ns, NULL);
    return cuda(cudaGetLastError(), "launch");
}

uint64_t kernels(const std::string &json) {
    return json_sum(json, "kernels", "spin", "", "calls");
}

// Prints it; whether both are equal.
bool expect(const char *what, uint64_t got, uint64_t want) {
    std::printf("%s: %llu, expected %llu\n", what, (unsigned long long)got,
                (unsigned long long)want);
    return got == want;
}

// 0: whether CUDA works at all. The reason is the last line.
int check_device() {
    int devices = 0, driver = 0, runtime = 0;
    if (!cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion") ||
        !cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion")) {
        return SKIPPED;
    }
    std::printf("driver for CUDA %d.%d, runtime %d.%d\n", driver / 1000, driver % 1000 / 10,
                runtime / 1000, runtime % 1000 / 10);
    if (!driver) {
        std::printf("there is no driver\n");
        return SKIPPED;
    }
    if (driver < runtime) {
        std::printf("the driver is older than the toolkit: update it, or build with nvcc %d.%d\n",
                    driver / 1000, driver % 1000 / 10);
        return SKIPPED;
    }
    if (!cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount")) {
        return SKIPPED;
    }
    if (!spin(NULL, 1000) || !cuda(cudaDeviceSynchronize(), "first kernel")) {
        return SKIPPED;
    }
    std::printf("devices: %d, a kernel ran\n", devices);
    return 0;
}

void warm_up() {
    spin(NULL, 1000);
    cudaDeviceSynchronize();
}

// 1: the ids, names and rows of one launch.
int check_launch() {
    stint_profiler_start("All", "Default");
    {
        REGISTER_TIMER("launch");
        spin(NULL, MS);
    }
    cudaDeviceSynchronize();
    const std::string json = json_exported();
    stint_profiler_stop("total", NULL);
    if (!json_has_gpu(json)) {
        return SKIPPED;
    }
    bool good = expect("kernels", kernels(json), 1);
    good &= expect("kernels in their scope",
                   json_sum(json, "activities", "spin", "\"launch\"", "calls"), 1);
    good &= expect("calls of the launch", json_sum(json, "api", "LaunchKernel", "", "calls"), 1);
    std::printf("%s\n", json_array(json, "api").c_str());
    return !good;
}

// 2: no session loses kernels.
int check_sessions() {
    bool good = true;
    for (int session = 0; session < 3; ++session) {
        stint_profiler_start("All", "Default");
        stint_profiler_reset();
        for (int i = 0; i < 50; ++i) {
            spin(NULL, 20000);
        }
        cudaDeviceSynchronize();
        stint_gpu_flush();
        const std::string json = json_exported();
        stint_profiler_stop("total", NULL);
        if (!json_has_gpu(json)) {
            return SKIPPED;
        }
        good &= expect("kernels of the session", kernels(json), 50);
        if (json.find("activity_bad") != std::string::npos) { // among what was lost
            std::printf("records with times that cannot be\n");
            good = false;
        }
    }
    return !good;
}

void *thread_busy(void *stop) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    uint64_t count = 0;
    for (; !__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE); ++count) {
        REGISTER_TIMER("busy");
        if (!spin(stream, 20000)) {
            break;
        }
        cudaStreamSynchronize(stream);
    }
    return (void *)(uintptr_t)count;
}

// 3: a thread that launches rarely beside one that launches often.
int check_threads() {
    static int stop;
    pthread_t thread;
    void *count = NULL;
    const int rare = gpu_double_waits ? 20 : 100; // five seconds on a GPU
    cudaStream_t stream;
    warm_up();
    stint_profiler_start("All", "Default");
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    pthread_create(&thread, NULL, thread_busy, &stop);
    for (int i = 0; i < rare; ++i) {
        REGISTER_TIMER("rare");
        if (!spin(stream, 5 * MS)) {
            break;
        }
        cudaStreamSynchronize(stream);
        usleep(50000);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, &count);
    stint_gpu_flush();
    const std::string json = json_exported();
    stint_profiler_stop("total", NULL);
    if (!json_has_gpu(json)) {
        return SKIPPED;
    }
    bool good = expect("kernels of the rare thread in their scope",
                       json_sum(json, "activities", "spin", "\"rare\"", "calls"), rare);
    good &= expect("kernels of the busy thread in their scope",
                   json_sum(json, "activities", "spin", "\"busy\"", "calls"),
                   (uint64_t)(uintptr_t)count);
    return !good;
}

// 4: what still runs when the profile stops is counted, with its time.
int check_stop() {
    warm_up();
    stint_profiler_start("All", "Default");
    spin(NULL, 200 * MS);
    stint_profiler_stop("total", NULL);
    const std::string json = json_exported();
    if (!json_has_gpu(json)) {
        return SKIPPED;
    }
    const uint64_t ns = json_sum(json, "kernels", "spin", "", "total_ns");
    std::printf("time of the kernel: %.3f ms, expected 200 ms or more\n", (double)ns / 1e6);
    return ns < 190 * MS;
}

// The number of GPU scopes that have no time of the GPU, for any reason.
uint64_t gpu_lost(const std::string &json) {
    return json_sum(json, "lost", "\"what\":\"gpu_", "", "count");
}

// 5: the context of scopes whose times were not read is destroyed. Each scope has its time or is
// counted as lost.
int check_reset() {
    const int scopes = 100;
    cudaStream_t stream;
    stint_stat s;
    warm_up();
    if (!cuda(cudaStreamCreate(&stream), "stream")) {
        return 1;
    }
    for (int i = 0; i < scopes; ++i) {
        REGISTER_GPU_TIMER("scope", stream);
        spin(stream, 20000);
    }
    std::printf("cudaDeviceReset: %s\n", cudaGetErrorString(cudaDeviceReset()));
    stint_gpu_flush();
    if (stint_stat_get("scope", &s, sizeof s)) {
        std::printf("no statistics of the scope\n");
        return 1;
    }
    const uint64_t lost = gpu_lost(json_exported());
    std::printf("measured %llu, lost %llu\n", (unsigned long long)s.gpu_calls,
                (unsigned long long)lost);
    return !expect("scopes measured or counted as lost", s.gpu_calls + lost, scopes);
}

// A function of the driver, which the runtime has loaded; NULL: there is none.
template <typename F> F driver_function(const char *name) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver ? (F)dlsym(driver, name) : NULL;
}

// The driver's number of the context, NULL: of the current one. 0 = unknown; prints a code.
unsigned long long context_id(void *context) {
    typedef int (*get_id_fn)(void *, unsigned long long *);
    const get_id_fn get_id = driver_function<get_id_fn>("cuCtxGetId");
    unsigned long long id = 0;
    const int code = get_id ? get_id(context, &id) : -1;
    if (code) {
        std::printf("cuCtxGetId: %d\n", code);
    }
    return code ? 0 : id;
}

// Whether device 0's primary context is active, and what is current; prints them.
bool print_context_state(const char *when) {
    typedef int (*get_state_fn)(int, unsigned *, int *);
    typedef int (*get_current_fn)(void **);
    const get_state_fn get_state = driver_function<get_state_fn>("cuDevicePrimaryCtxGetState");
    const get_current_fn get_current = driver_function<get_current_fn>("cuCtxGetCurrent");
    unsigned flags = 0;
    int active = -1;
    void *current = NULL;
    if (!get_state || !get_current) {
        return false;
    }
    const int state_code = get_state(0, &flags, &active);
    const int code = get_current(&current);
    const unsigned long long id = context_id(NULL);
    std::printf("%s: active %d (code %d), current %p (code %d), number %llu\n", when, active,
                state_code, current, code, id);
    return !state_code && !code && id == 0 && !active;
}

// 11: whether the primary context has another number after a reset, and is not active, nor asked
// for by its number, until the next call. The pool of events depends on it.
int check_context_ids() {
    warm_up();
    const unsigned long long before = context_id(NULL);
    print_context_state("before");
    cudaDeviceReset();
    const bool gone = print_context_state("after a reset");
    warm_up();
    const unsigned long long after = context_id(NULL);
    std::printf("context ids: %llu before cudaDeviceReset, %llu after it\n", before, after);
    if (!before || !after) {
        return SKIPPED;
    }
    return before == after || !gone;
}

struct beside_capture {
    cudaStream_t stream; // made before: no source says whether a stream may be made in a capture
    int stop;
};

void *thread_beside_capture(void *data) {
    beside_capture *beside = (beside_capture *)data;
    while (!__atomic_load_n(&beside->stop, __ATOMIC_ACQUIRE)) {
        REGISTER_GPU_TIMER("beside a capture", beside->stream);
        spin(beside->stream, 10000);
    }
    return NULL;
}

// 12: GPU scopes of another thread, the first of which makes events, do not break a capture in the
// global mode, nor do scopes on the captured stream.
int check_capture_calls() {
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    pthread_t thread;
    beside_capture beside = {NULL, 0};
    bool good = true;
    warm_up();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&beside.stream, cudaStreamNonBlocking);
    good &= cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin of capture");
    pthread_create(&thread, NULL, thread_beside_capture, &beside);
    for (int i = 0; i < 100; ++i) {
        REGISTER_GPU_TIMER("captured", stream);
        good &= spin(stream, 1000);
        usleep(1000);
    }
    good &= cuda(cudaStreamEndCapture(stream, &graph), "end of capture");
    __atomic_store_n(&beside.stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    return !(good && graph);
}

#if CUDA_VERSION >= 12050
CUstream make_green_stream() {
    CUdevResource resource;
    CUdevResourceDesc description;
    CUgreenCtx context;
    CUstream stream = NULL;
    const auto get = driver_function<decltype(&cuDeviceGetDevResource)>("cuDeviceGetDevResource");
    const auto describe =
        driver_function<decltype(&cuDevResourceGenerateDesc)>("cuDevResourceGenerateDesc");
    const auto make = driver_function<decltype(&cuGreenCtxCreate)>("cuGreenCtxCreate");
    const auto make_stream =
        driver_function<decltype(&cuGreenCtxStreamCreate)>("cuGreenCtxStreamCreate");
    if (!get || !describe || !make || !make_stream || get(0, &resource, CU_DEV_RESOURCE_TYPE_SM) ||
        describe(&description, &resource, 1) ||
        make(&context, description, 0, CU_GREEN_CTX_DEFAULT_STREAM) ||
        make_stream(&stream, context, CU_STREAM_NON_BLOCKING, 0)) {
        return NULL;
    }
    return stream;
}

// 13: a stream of a green context has one context, the same at each call, and can be measured.
int check_green_context() {
    stint_stat s;
    warm_up();
    CUstream stream = make_green_stream();
    const auto get_context = driver_function<decltype(&cuStreamGetCtx)>("cuStreamGetCtx");
    if (!stream || !get_context) {
        std::printf("no green context could be made\n");
        return SKIPPED;
    }
    CUcontext first = NULL, context = NULL;
    bool good = !get_context(stream, &first);
    const unsigned long long id = context_id(first);
    for (int i = 0; i < 100; ++i) {
        good &= !get_context(stream, &context) && context == first && context_id(context) == id;
        REGISTER_GPU_TIMER("green", stream);
    }
    std::printf("context %p, number %llu, the same at each call: %d\n", (void *)first, id, good);
    cudaStreamSynchronize(stream);
    stint_gpu_flush();
    if (stint_stat_get("green", &s, sizeof s)) {
        return 1;
    }
    good &= expect("scopes with a time of the GPU", s.gpu_calls, 100);
    return !good;
}
#else
int check_green_context() {
    std::printf("built with a toolkit before CUDA 12.5\n");
    return SKIPPED;
}
#endif

// 6: under nsys -c cudaProfilerApi: the range is opened before the first CUDA call.
int check_range() {
    REGISTER_GPU_PROFILER("main");
    for (int i = 0; i < 20; ++i) {
        REGISTER_GPU_TIMER("scope", NULL);
        spin(NULL, MS);
        stint_step();
    }
    cudaDeviceSynchronize();
    return 0;
}

void *thread_default_stream(void *unused) {
    REGISTER_GPU_TIMER("first of the thread", NULL);
    spin(NULL, MS);
    return unused;
}

// 7: the first scope of a new thread on the default stream.
int check_default_stream() {
    pthread_t thread;
    stint_stat s;
    warm_up();
    pthread_create(&thread, NULL, thread_default_stream, NULL);
    pthread_join(thread, NULL);
    cudaDeviceSynchronize();
    stint_gpu_flush();
    if (stint_stat_get("first of the thread", &s, sizeof s)) {
        return 1;
    }
    return !expect("scopes with a time of the GPU", s.gpu_calls, 1);
}

// 8: with STINT_GPU=cupti CUDA is not initialised before main.
int check_visible() {
    int devices = 0;
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    const cudaError_t code = cudaGetDeviceCount(&devices);
    std::printf("devices after CUDA_VISIBLE_DEVICES=-1 in main: %d (%s)\n", devices,
                cudaGetErrorString(code));
    return code == cudaSuccess && devices > 0;
}

int check_fork() {
    int status = 0;
    const pid_t child = fork();
    if (!child) {
        const bool good = spin(NULL, MS) && cuda(cudaDeviceSynchronize(), "synchronize");
        std::fflush(stdout);
        _exit(!good);
    }
    waitpid(child, &status, 0);
    std::printf("status of a child that uses CUDA: %d\n", status);
    return status != 0;
}

// 9: a graph is launched in two sessions, in a scope of each. With the faulty numbers of CUPTI 13.0
// and 13.1 its kernels of the second session are in no scope.
int check_graph() {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    bool good = true;
    warm_up();
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    for (int i = 0; i < 3; ++i) {
        spin(stream, 20000);
    }
    if (!cuda(cudaStreamEndCapture(stream, &graph), "capture") ||
        !cuda(cudaGraphInstantiateWithFlags(&instance, graph, 0), "instantiate")) {
        return 1;
    }
    for (int session = 0; session < 2; ++session) {
        stint_profiler_start("All", "Default");
        const char *scope = session ? "second" : "first";
        stint_profiler_reset();
        {
            REGISTER_TIMER_DYNAMIC(scope);
            good &= cuda(cudaGraphLaunch(instance, stream), "graph launch");
        }
        cudaStreamSynchronize(stream);
        stint_gpu_flush();
        const std::string json = json_exported();
        stint_profiler_stop("total", NULL);
        if (!json_has_gpu(json)) {
            return SKIPPED;
        }
        good &= expect("kernels of the graph in the scope of the session",
                       json_sum(json, "activities", "spin", scope, "calls"), 3);
    }
    return !good;
}

// 10: for a comparison with nsys, which is run on the same program without CUPTI.
int check_work() {
    const size_t bytes = 1u << 20;
    void *device = NULL, *host = NULL;
    cudaMalloc(&device, bytes);
    cudaMallocHost(&host, bytes);
    for (int i = 0; i < 100; ++i) {
        spin(NULL, 20000);
        if (i < 40) {
            cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice);
        }
    }
    cudaDeviceSynchronize();
    stint_gpu_flush();
    const std::string json = json_exported();
    if (!json_has_gpu(json)) {
        return std::getenv("STINT_GPU") ? SKIPPED : 0;
    }
    bool good = expect("kernels", kernels(json), 100);
    good &= expect("copies", json_sum(json, "memory", "HtoD", "", "calls"), 40);
    good &= expect("bytes", json_sum(json, "memory", "HtoD", "", "bytes"), 40 * bytes);
    return !good;
}

// 14: with STINT_CAPTURE='steps 5-6,every=5': windows of two steps close before their kernels have
// run, as nothing waits. CUPTI may lose their buffer when callbacks are registered again.
int check_windows() {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int step = 0; step < 20; ++step) {
        REGISTER_TIMER("step");
        for (int i = 0; i < 10; ++i) {
            spin(stream, MS);
        }
        stint_step();
    }
    cudaStreamSynchronize(stream);
    stint_gpu_flush();
    const std::string json = json_exported();
    return json_has_gpu(json) ? !expect("kernels of three windows", kernels(json), 60) : SKIPPED;
}

__global__ void touch_kernel(char *bytes, size_t count) {
    const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        bytes[i] = static_cast<char>(bytes[i] + 1);
    }
}

void touch_by_host(volatile char *bytes, size_t count) {
    REGISTER_TIMER("touch by the host");
    for (size_t i = 0; i < count; i += 4096) {
        bytes[i] = static_cast<char>(bytes[i] + 1);
    }
}

// 15: with STINT_GPU=cupti,all: memory that migrates to the GPU and back has records.
int check_managed() {
    const size_t bytes = 64u << 20;
    void *memory = NULL;
    if (!cuda(cudaMallocManaged(&memory, bytes), "managed memory")) {
        return SKIPPED;
    }
    touch_by_host(static_cast<char *>(memory), bytes);
    touch_kernel<<<256, 256>>>(static_cast<char *>(memory), bytes);
    cuda(cudaDeviceSynchronize(), "kernel");
    touch_by_host(static_cast<char *>(memory), bytes);
    stint_gpu_flush();
    stint_report("gpu");
    const std::string json = json_exported();
    const uint64_t moved = json_sum(json, "memory", "migration", "", "bytes");
    std::printf("migrated: %llu bytes of %zu\n", (unsigned long long)moved, 2 * bytes);
    return moved ? moved != 2 * bytes : SKIPPED;
}

struct check {
    const char *name;
    int (*run)();
};
const check checks[] = {{"device", check_device},
                        {"launch", check_launch},
                        {"sessions", check_sessions},
                        {"threads", check_threads},
                        {"stop", check_stop},
                        {"reset", check_reset},
                        {"range", check_range},
                        {"default_stream", check_default_stream},
                        {"visible", check_visible},
                        {"fork", check_fork},
                        {"graph", check_graph},
                        {"work", check_work},
                        {"context_ids", check_context_ids},
                        {"capture_calls", check_capture_calls},
                        {"green_context", check_green_context},
                        {"windows", check_windows},
                        {"managed", check_managed}};

// Asked in a child: checks are about the first call of CUDA, too.
bool has_device() {
    int status = 0, devices = 0;
    const pid_t child = fork();
    if (!child) {
        _exit(cudaGetDeviceCount(&devices) || !devices);
    }
    return waitpid(child, &status, 0) == child && !status;
}

} // namespace

int main(int argc, char **argv) {
    for (const check &c : checks) {
        if (argc == 2 && !std::strcmp(argv[1], c.name)) {
            if (c.run != check_device && !has_device()) {
                std::printf("no device, or CUDA does not work\n");
                return SKIPPED;
            }
            return c.run();
        }
    }
    std::fprintf(stderr, "first_contact device|launch|sessions|threads|stop|reset|range|"
                         "default_stream|visible|fork|graph|work|context_ids|capture_calls|"
                         "green_context|windows|managed\n");
    return 2;
}
