// SPDX-License-Identifier: Apache-2.0
// real_cost [THREADS]: the cost of a GPU scope on the host, of a launch and of the driver's calls,
// at 1 to 16 threads, or up to so many: Markdown on stdout. Exit: 0, 1 CUDA failed, 77 no GPU.
#include "real_spin.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stint/stint.h>
#include <string>
#include <vector>

namespace {

enum { CHUNK = 64, CHUNKS = 51, MOST_THREADS = 16 };

#define MUST(call) must((call) == 0, #call, __LINE__)

void must(bool held, const char *call, int line) {
    if (!held) {
        std::fprintf(stderr, "real_cost.cu:%d: %s failed\n", line, call);
        std::exit(1);
    }
}

double now_ns() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

// The driver as the library reaches it: by name, nothing linked.
struct driver {
    decltype(&cuCtxGetCurrent) current;
    decltype(&cuStreamIsCapturing) capturing;
    decltype(&cuThreadExchangeStreamCaptureMode) mode;
    decltype(&cuEventCreate) create;
    decltype(&cuEventRecord) record;
    decltype(&cuEventQuery) query;
    decltype(&cuEventElapsedTime) elapsed;
    decltype(&cuDriverGetVersion) version;
    decltype(&cuDeviceGetAttribute) attribute;
};
driver d;

template <typename function> void load(void *library, const char *name, function &into) {
    into = reinterpret_cast<function>(dlsym(library, name));
    must(into != nullptr, name, __LINE__);
}

void load_all(void *library) {
    load(library, "cuCtxGetCurrent", d.current);
    load(library, "cuStreamIsCapturing", d.capturing);
    load(library, "cuThreadExchangeStreamCaptureMode", d.mode);
    load(library, "cuEventCreate", d.create);
    load(library, "cuEventRecord", d.record);
    load(library, "cuEventQuery", d.query);
    load(library, "cuEventElapsedTime", d.elapsed);
    load(library, "cuDriverGetVersion", d.version);
    load(library, "cuDeviceGetAttribute", d.attribute);
}

// The objects that a thread works on.
struct lane {
    cudaStream_t stream;
    CUevent from;
    CUevent to;
};

typedef void (*operation)(const lane &);

void op_current(const lane &) {
    CUcontext context;
    MUST(d.current(&context));
}
void op_capturing(const lane &l) {
    CUstreamCaptureStatus status;
    MUST(d.capturing(l.stream, &status));
}
void op_mode(const lane &) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    MUST(d.mode(&mode));
    MUST(d.mode(&mode)); // and back
}
void op_record(const lane &l) {
    MUST(d.record(l.to, l.stream));
}
void op_query(const lane &l) {
    const CUresult code = d.query(l.to);
    must(code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY, "cuEventQuery", __LINE__);
}
void op_elapsed(const lane &l) {
    float ms;
    MUST(d.elapsed(&ms, l.from, l.to));
}
void op_two_records(const lane &l) {
    MUST(d.record(l.from, l.stream));
    MUST(d.record(l.to, l.stream));
}
void op_scope(const lane &l) {
    REGISTER_GPU_TIMER("cost", l.stream);
}
void op_cpu_scope(const lane &) {
    REGISTER_TIMER("cost.cpu");
}
void op_launch(const lane &l) {
    real_spin_kernel<<<1, 1, 0, l.stream>>>(0, nullptr);
}
void op_launch_in_scope(const lane &l) {
    REGISTER_GPU_TIMER("cost.launch", l.stream);
    op_launch(l);
}

struct row {
    const char *name;
    operation run;
    bool enqueues; // and so needs the stream emptied between chunks
    bool busy;     // measured while the stream is blocked
};

const row rows[] = {
    {"cuCtxGetCurrent", op_current, false, false},
    {"cuStreamIsCapturing", op_capturing, false, false},
    {"cuThreadExchangeStreamCaptureMode, there and back", op_mode, false, false},
    {"cuEventRecord", op_record, true, false},
    {"cuEventQuery, done", op_query, false, false},
    {"cuEventQuery, not ready", op_query, false, true},
    {"cuEventElapsedTime", op_elapsed, false, false},
    {"two cuEventRecord", op_two_records, true, false},
    {"REGISTER_GPU_TIMER, empty", op_scope, true, false},
    {"REGISTER_TIMER, empty", op_cpu_scope, false, false},
    {"launch of a kernel", op_launch, true, false},
    {"launch inside REGISTER_GPU_TIMER", op_launch_in_scope, true, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    double ns[ROWS]; // median of the chunks
};

double measure(const row &r, const lane &l) {
    std::vector<double> chunks;
    MUST(d.record(l.from, l.stream));
    if (r.busy) {
        real_spin_kernel<<<1, 1, 0, l.stream>>>(200000000, nullptr);
    }
    MUST(d.record(l.to, l.stream));
    if (!r.busy) {
        MUST(cudaStreamSynchronize(l.stream));
    }
    for (int i = 0; i < CHUNKS; ++i) {
        const double before = now_ns();
        for (int j = 0; j < CHUNK; ++j) {
            r.run(l);
        }
        chunks.push_back((now_ns() - before) / CHUNK);
        if (r.enqueues) {
            MUST(cudaStreamSynchronize(l.stream));
        }
    }
    MUST(cudaStreamSynchronize(l.stream));
    return median(chunks);
}

void *worker_main(void *argument) {
    worker &w = *static_cast<worker *>(argument);
    lane l;
    MUST(cudaSetDevice(0));
    MUST(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
    MUST(d.create(&l.from, CU_EVENT_DEFAULT));
    MUST(d.create(&l.to, CU_EVENT_DEFAULT));
    op_launch(l); // loads the kernel
    MUST(cudaStreamSynchronize(l.stream));
    for (int i = 0; i < ROWS; ++i) {
        pthread_barrier_wait(w.start);
        w.ns[i] = measure(rows[i], l);
    }
    return nullptr;
}

// ns a call of each row, median of the threads' medians.
std::vector<double> run_threads(int count) {
    pthread_barrier_t start;
    std::vector<worker> workers(static_cast<size_t>(count));
    std::vector<double> result;
    pthread_barrier_init(&start, nullptr, static_cast<unsigned>(count));
    for (worker &w : workers) {
        w.start = &start;
        MUST(pthread_create(&w.thread, nullptr, worker_main, &w));
    }
    for (worker &w : workers) {
        pthread_join(w.thread, nullptr);
    }
    pthread_barrier_destroy(&start);
    for (int i = 0; i < ROWS; ++i) {
        std::vector<double> all;
        for (const worker &w : workers) {
            all.push_back(w.ns[i]);
        }
        result.push_back(median(all));
    }
    return result;
}

void print_costs(int most) {
    std::vector<std::vector<double>> columns;
    std::printf("\n| ns a call on the host, threads |");
    for (int count = 1; count <= most; count *= 2) {
        std::printf(" %d |", count);
        columns.push_back(run_threads(count));
    }
    std::printf("\n|---|%s\n", std::string("--:|--:|--:|--:|--:|", columns.size() * 4).c_str());
    for (int i = 0; i < ROWS; ++i) {
        std::printf("| %s |", rows[i].name);
        for (const std::vector<double> &column : columns) {
            std::printf(" %.0f |", column[static_cast<size_t>(i)]);
        }
        std::printf("\n");
    }
    std::printf("| **scope over two records** |");
    for (const std::vector<double> &column : columns) {
        std::printf(" %.2f |", column[8] / column[7]);
    }
    std::printf("\n");
}

// The step of event times, from pairs with nothing between them.
void print_quantum() {
    std::vector<double> times;
    lane l;
    double step = 0;
    MUST(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
    MUST(d.create(&l.from, CU_EVENT_DEFAULT));
    MUST(d.create(&l.to, CU_EVENT_DEFAULT));
    for (int i = 0; i < 2000; ++i) {
        float ms;
        op_two_records(l);
        MUST(cudaStreamSynchronize(l.stream));
        MUST(d.elapsed(&ms, l.from, l.to));
        times.push_back(static_cast<double>(ms) * 1e6);
    }
    std::sort(times.begin(), times.end());
    for (size_t i = 1; i < times.size(); ++i) {
        const double apart = times[i] - times[i - 1];
        step = apart > 0.5 && (step <= 0 || apart < step) ? apart : step;
    }
    std::printf(
        "- an empty pair of events: %.0f ns at least, %.0f ns median, in steps of %.0f ns\n",
        times.front(), median(times), step);
}

void print_device(double first_open, double later_open) {
    static const struct {
        const char *name;
        CUdevice_attribute attribute;
    } attributes[] = {
        {"clock, kHz", CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
        {"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {"memory clock, kHz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
        {"memory bus, bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
        {"L2, bytes", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
        {"single over double rate", CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO},
    };
    cudaDeviceProp properties;
    int version = 0;
    MUST(cudaGetDeviceProperties(&properties, 0));
    MUST(d.version(&version));
    std::printf("- %s, compute capability %d.%d, driver for CUDA %d.%d\n", properties.name,
                properties.major, properties.minor, version / 1000, version % 1000 / 10);
    for (const auto &a : attributes) {
        int value = 0;
        const CUresult code = d.attribute(&value, a.attribute, 0);
        std::printf("- %s: %d%s\n", a.name, value, code == CUDA_SUCCESS ? "" : " (not known)");
    }
    std::printf("- dlopen of the driver: %.0f us the first time, %.1f us later\n", first_open / 1e3,
                later_open / 1e3);
}

} // namespace

int main(int argc, char **argv) {
    const double a = now_ns();
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const double b = now_ns();
    (void)dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const double c = now_ns();
    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0 || !library) {
        std::printf("no GPU: %s\n", cudaGetErrorString(code));
        return 77;
    }
    MUST(cudaFree(nullptr));
    load_all(library);
    print_device(b - a, c - b);
    print_quantum();
    print_costs(argc > 1 ? std::atoi(argv[1]) : MOST_THREADS);
    if (stint_gpu_flush() != 0) {
        std::fprintf(stderr, "real_cost: the GPU failed\n");
        return 1;
    }
    return 0;
}
