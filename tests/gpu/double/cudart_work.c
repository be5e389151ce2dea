/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's part that makes the device work: launches as nvcc compiles <<<>>> (up to CUDA 12 to
 * cudaLaunchKernel, from 13 on to __cudaLaunchKernel), copies, memory, host functions, and graphs,
 * which are captured from streams. cudart_double.h has the rules.
 */
#include "cudart_double.h"

#include <stdlib.h>
#include <string.h>

#include "double_state.h"

#define begin cudart_double_begin
#define end_call cudart_double_end
#define NONE NULL, -1 /* no stream in the parameters */
#define US UINT64_C(1000)

static void work_enter(const char *driver, cudaStream_t stream, int word) {
    if (double_world.enter) {
        double_world.enter(DOUBLE_DRIVER, driver, stream, word);
    }
}

static int work_leave(int code) {
    if (double_world.leave) {
        double_world.leave(code);
    }
    return code;
}

/* ---- Graphs: the work that was put on a stream while it was captured. */

struct CUgraph_st {
    struct double_work *work;
    size_t count, room;
    uint32_t number;
};
struct CUgraphExec_st {
    struct CUgraph_st *graph;
};

#define CAPTURES 64
static struct {
    cudaStream_t stream;
    struct CUgraph_st *graph;
} captures[CAPTURES]; /* under way; the driver double's lock */

static struct CUgraph_st **capture_find(cudaStream_t stream) {
    for (int i = 0; i < CAPTURES; ++i) {
        if (captures[i].graph && captures[i].stream == stream) {
            return &captures[i].graph;
        }
    }
    return NULL;
}

static void graph_add(cudaStream_t stream, const struct double_work *work) {
    double_take();
    struct CUgraph_st **found = capture_find(stream);
    struct CUgraph_st *g = found ? *found : NULL;
    if (g && g->count == g->room) {
        g->room = g->room ? g->room * 2 : 16;
        g->work = realloc(g->work, g->room * sizeof *g->work);
    }
    if (g && g->work) {
        g->work[g->count] = *work;
        g->work[g->count++].graph = g->number;
    }
    pthread_mutex_unlock(&double_lock);
}

/* Returns a code; *end_of: when the work is done. */
static int work_put(const struct double_work *work, cudaStream_t stream, uint64_t *end_of) {
    struct double_span span;
    int code = double_queue(stream, work->ns, &span);
    if (!code && span.captured) {
        graph_add(stream, work);
    } else if (!code) {
        if (double_world.work) {
            double_world.work(work, &span);
        }
        if (end_of) {
            *end_of = span.end;
        }
    }
    return code;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
    static uint32_t graphs;
    int code = begin("cudaStreamBeginCapture", stream, 0);
    code = code ? code : double_capture_begin(stream, (int)mode);
    double_take();
    for (int i = 0; !code && i < CAPTURES; ++i) {
        if (!captures[i].graph) {
            captures[i].stream = stream;
            captures[i].graph = calloc(1, sizeof *captures[i].graph);
            captures[i].graph->number = ++graphs;
            break;
        }
    }
    pthread_mutex_unlock(&double_lock);
    return end_call(code);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
    int code = begin("cudaStreamEndCapture", stream, 0);
    code = code ? code : double_capture_end(stream);
    double_take();
    struct CUgraph_st **found = capture_find(stream);
    *graph = NULL;
    if (found) {
        *graph = code ? NULL : *found;
        *found = NULL;
    }
    pthread_mutex_unlock(&double_lock);
    return end_call(code);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *program, cudaGraph_t graph,
                                          unsigned long long flags) {
    int code = begin("cudaGraphInstantiateWithFlags", NONE);
    (void)flags;
    *program = NULL;
    if (!code) {
        *program = calloc(1, sizeof **program);
        (*program)->graph = graph;
    }
    return end_call(code);
}

/* A program keeps its graph: here the graph is not released. */
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    (void)graph;
    return end_call(begin("cudaGraphDestroy", NONE));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t program) {
    free(program);
    return end_call(begin("cudaGraphExecDestroy", NONE));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t program, cudaStream_t stream) {
    int code = begin("cudaGraphLaunch", stream, 1);
    if (!code) {
        work_enter("cuGraphLaunch", stream, 1);
        for (size_t i = 0; !code && i < program->graph->count; ++i) {
            code = work_put(&program->graph->work[i], stream, NULL);
        }
        work_leave(code);
    }
    return end_call(code);
}

/* ---- Launches. A kernel is known by its name. */

#define FUNCTIONS 256
static struct {
    const void *of_host;
    const char *name;
} functions[FUNCTIONS];
static unsigned function_count; /* by constructors, one after the other */

void **__cudaRegisterFatBinary(void *binary) {
    static void *handle;
    (void)binary;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *of_host, char *of_device, const char *name,
                            int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *size) {
    (void)handle, (void)of_device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)size;
    if (function_count < FUNCTIONS) {
        functions[function_count].of_host = of_host;
        functions[function_count++].name = name;
    }
}

static const char *function_find(const void *of_host) {
    for (unsigned i = 0; i < function_count; ++i) {
        if (functions[i].of_host == of_host) {
            return functions[i].name;
        }
    }
    return NULL;
}

static __thread struct {
    dim3 grid, block;
    size_t shared;
    void *stream;
} launch_configuration;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    int code = begin("__cudaPushCallConfiguration", NONE);
    launch_configuration.grid = grid;
    launch_configuration.block = block;
    launch_configuration.shared = shared;
    launch_configuration.stream = stream;
    end_call(code);
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    int code = begin("__cudaPopCallConfiguration", NONE);
    *grid = launch_configuration.grid;
    *block = launch_configuration.block;
    *shared = launch_configuration.shared;
    memcpy(stream, &launch_configuration.stream, sizeof launch_configuration.stream);
    end_call(code);
    return cudaSuccess;
}

/* The handle of a kernel is its name. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *of_host) {
    *kernel = (cudaKernel_t)(uintptr_t)function_find(of_host);
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

static cudaError_t launch(const char *call, int word, const char *name, dim3 grid, dim3 block,
                          void **arguments, cudaStream_t stream) {
    struct double_work work = {.kind = DOUBLE_KERNEL,
                               .name = name,
                               .ns = US,
                               .grid = {grid.x, grid.y, grid.z},
                               .block = {block.x, block.y, block.z}};
    unsigned long long *took = NULL;
    int code = begin(call, stream, word);
    if (!code && !name) {
        code = cudaErrorInvalidDeviceFunction;
    }
    if (!code) {
        if (strstr(name, "spin")) {
            memcpy(&work.ns, arguments[0], sizeof work.ns);
            memcpy(&took, arguments[1], sizeof took);
        }
        work_enter("cuLaunchKernel", stream, 5);
        code = work_leave(work_put(&work, stream, NULL));
    }
    if (!code && took) {
        *took = work.ns;
    }
    if (!code && strstr(name, "trap")) {
        double_take();
        double_state.sticky = cudaErrorLaunchFailure;
        pthread_mutex_unlock(&double_lock);
    }
    return end_call(code);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                               size_t shared, cudaStream_t stream) {
    (void)shared;
    return launch("__cudaLaunchKernel", -1, (const char *)kernel, grid, block, arguments, stream);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream) {
    (void)shared;
    return launch("__cudaLaunchKernel_ptsz", -1, (const char *)kernel, grid, block, arguments,
                  stream ? stream : cudaStreamPerThread);
}

cudaError_t cudaLaunchKernel(const void *of_host, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream) {
    (void)shared;
    return launch("cudaLaunchKernel", 6, function_find(of_host), grid, block, arguments, stream);
}

/* The function is called at once, and then takes its time on the stream. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    struct double_work work = {.kind = DOUBLE_HOST_FUNCTION};
    int code = begin("cudaLaunchHostFunc", stream, 0);
    if (!code) {
        uint64_t before = double_now();
        function(data);
        work.ns = double_now() - before + US;
        work_enter("cuLaunchHostFunc", stream, 0);
        code = work_leave(work_put(&work, stream, NULL));
    }
    return end_call(code);
}

/* ---- Memory and copies */

static cudaError_t memory_give(const char *call, const char *driver, void **at, size_t bytes,
                               int memory) {
    int code = begin(call, NONE);
    if (!code) {
        double_take();
        code = double_unsafe();
        pthread_mutex_unlock(&double_lock);
    }
    *at = code ? NULL : calloc(1, bytes);
    if (!code) {
        work_enter(driver, NONE);
        if (double_world.memory) {
            double_world.memory(*at, bytes, memory);
        }
        work_leave(0);
    }
    return end_call(code);
}

cudaError_t cudaMalloc(void **at, size_t bytes) {
    return memory_give("cudaMalloc", "cuMemAlloc_v2", at, bytes, 3);
}

cudaError_t cudaMallocManaged(void **at, size_t bytes, unsigned flags) {
    (void)flags;
    return memory_give("cudaMallocManaged", "cuMemAllocManaged", at, bytes, 5);
}

cudaError_t cudaMallocHost(void **at, size_t bytes) {
    return memory_give("cudaMallocHost", "cuMemHostAlloc", at, bytes, 2);
}

cudaError_t cudaHostAlloc(void **at, size_t bytes, unsigned flags) {
    (void)flags;
    return memory_give("cudaHostAlloc", "cuMemHostAlloc", at, bytes, 2);
}

static cudaError_t memory_take(const char *call, void *at, int memory) {
    int code = begin(call, NONE);
    if (!code && at && double_world.memory) {
        double_world.memory(at, 0, memory);
    }
    free(at);
    return end_call(code);
}

cudaError_t cudaFree(void *at) {
    return memory_take("cudaFree", at, 3);
}

cudaError_t cudaFreeHost(void *at) {
    return memory_take("cudaFreeHost", at, 2);
}

static int copy(const char *driver, void *to, const void *from, struct double_work *work,
                cudaStream_t stream) {
    uint64_t done = 0;
    work->kind = DOUBLE_COPY;
    work->ns = US + work->bytes / 10;
    work_enter(driver, stream, work->async ? 3 : -1);
    int code = work_put(work, stream, &done);
    if (!code && to) {
        memcpy(to, from, work->bytes);
    }
    if (!code && !work->async) {
        double_take();
        double_wait_until(done);
        pthread_mutex_unlock(&double_lock);
    }
    return work_leave(code);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    struct double_work work = {.bytes = bytes, .direction = (int)kind};
    int code = begin("cudaMemcpy", NONE);
    return end_call(code ? code : copy("cuMemcpyHtoD_v2", to, from, &work, NULL));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    struct double_work work = {.bytes = bytes, .direction = (int)kind, .async = 1};
    int code = begin("cudaMemcpyAsync", stream, 4);
    return end_call(code ? code : copy("cuMemcpyHtoDAsync_v2", to, from, &work, stream));
}

#if CUDART_VERSION >= 13000
/* The copies of a batch have one record together, with their number (cupti_activity.h at
 * CUpti_ActivityMemcpy6). */
cudaError_t cudaMemcpyBatchAsync(void *const *to, const void *const *from, const size_t *bytes,
                                 size_t count, struct cudaMemcpyAttributes *attributes,
                                 size_t *of_attributes, size_t attribute_count,
                                 cudaStream_t stream) {
    struct double_work work = {.direction = cudaMemcpyHostToDevice, .async = 1, .copies = count};
    int code = begin("cudaMemcpyBatchAsync", stream, 7);
    (void)attributes, (void)of_attributes, (void)attribute_count;
    for (size_t i = 0; !code && i < count; ++i) {
        memcpy(to[i], from[i], bytes[i]);
        work.bytes += bytes[i];
    }
    return end_call(code ? code : copy("cuMemcpyBatchAsync_v2", NULL, NULL, &work, stream));
}
#endif
