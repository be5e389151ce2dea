/* SPDX-License-Identifier: Apache-2.0 */
/*
 * y = a x + y by an OpenCL kernel, in steps: copy in, compute, copy out. STINT_CL_TIMER measures
 * what a step takes on the CPU, to enqueue it, and on the device, between two markers of the queue.
 *
 * Any OpenCL device will do; the package pocl-opencl-icd makes one of the processor.
 *
 *     ./opencl [steps]
 *
 * Exit: 0 the values are right, 1 they are not or OpenCL failed, 77 there is no device.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <stint/stint.h>

#define COUNT (1 << 20)
#define BYTES (COUNT * sizeof(float))
#define WARM_UP 1 /* steps; the first launch of a kernel may compile it */

static const char source[] =
    "kernel void saxpy(float a, global const float *x, global float *y) {\n"
    "    size_t i = get_global_id(0);\n"
    "    y[i] = a * x[i] + y[i];\n"
    "}\n";

#define CL(call) must((call), #call, __LINE__)

static void must(cl_int code, const char *call, int line) {
    if (code != CL_SUCCESS) {
        fprintf(stderr, "opencl.c:%d: %s: error %d\n", line, call, code);
        exit(1);
    }
}

struct state {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel saxpy;
    cl_mem x, y;
    float *host_x, *host_y;
};

/* NULL: there is none. */
static cl_device_id find_device(void) {
    cl_platform_id platforms[8];
    cl_device_id device = NULL;
    cl_uint count = 0;
    if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) {
        return NULL;
    }
    for (cl_uint i = 0; i < count && i < 8 && !device; ++i) {
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL);
    }
    return device;
}

static void open_state(struct state *s, cl_device_id device) {
    STINT_TIMER("open");
    const char *text = source;
    cl_int code;
    s->context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    CL(code);
    /* The device keeps no times without profiling. */
    s->queue = clCreateCommandQueue(s->context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    CL(code);
    s->program = clCreateProgramWithSource(s->context, 1, &text, NULL, &code);
    CL(code);
    CL(clBuildProgram(s->program, 1, &device, "", NULL, NULL));
    s->saxpy = clCreateKernel(s->program, "saxpy", &code);
    CL(code);
    s->x = clCreateBuffer(s->context, CL_MEM_READ_ONLY, BYTES, NULL, &code);
    CL(code);
    s->y = clCreateBuffer(s->context, CL_MEM_READ_WRITE, BYTES, NULL, &code);
    CL(code);
    s->host_x = malloc(BYTES);
    s->host_y = malloc(BYTES);
    if (!s->host_x || !s->host_y) {
        fprintf(stderr, "opencl.c: out of memory\n");
        exit(1);
    }
    for (int i = 0; i < COUNT; ++i) { /* small whole numbers: every sum is exact */
        s->host_x[i] = (float)(i % 17);
        s->host_y[i] = (float)(i % 5);
    }
    CL(clEnqueueWriteBuffer(s->queue, s->y, CL_TRUE, 0, BYTES, s->host_y, 0, NULL, NULL));
}

static void close_state(struct state *s) {
    free(s->host_y);
    free(s->host_x);
    clReleaseMemObject(s->y);
    clReleaseMemObject(s->x);
    clReleaseKernel(s->saxpy);
    clReleaseProgram(s->program);
    clReleaseCommandQueue(s->queue);
    clReleaseContext(s->context);
}

/* Returns at once: the CPU times are what enqueueing costs. */
static void run_step(const struct state *s) {
    const float a = 2;
    const size_t count = COUNT;
    STINT_CL_TIMER("step", s->queue);
    {
        STINT_CL_TIMER("copy in", s->queue);
        STINT_TIMER_BYTES(BYTES);
        CL(clEnqueueWriteBuffer(s->queue, s->x, CL_FALSE, 0, BYTES, s->host_x, 0, NULL, NULL));
    }
    {
        STINT_CL_TIMER("saxpy", s->queue);
        STINT_TIMER_BYTES(3 * BYTES);
        STINT_TIMER_FLOPS(2.0 * COUNT);
        CL(clSetKernelArg(s->saxpy, 0, sizeof a, &a));
        CL(clSetKernelArg(s->saxpy, 1, sizeof(cl_mem), &s->x));
        CL(clSetKernelArg(s->saxpy, 2, sizeof(cl_mem), &s->y));
        CL(clEnqueueNDRangeKernel(s->queue, s->saxpy, 1, NULL, &count, NULL, 0, NULL, NULL));
    }
}

static int check_result(const struct state *s, int steps) {
    STINT_CL_TIMER("copy out", s->queue);
    CL(clEnqueueReadBuffer(s->queue, s->y, CL_TRUE, 0, BYTES, s->host_y, 0, NULL, NULL));
    for (int i = 0; i < COUNT; ++i) {
        if (s->host_y[i] != (float)(i % 5) + 2 * (float)steps * (float)(i % 17)) {
            fprintf(stderr, "opencl.c: y[%d] is %g\n", i, (double)s->host_y[i]);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 10;
    cl_device_id device = find_device();
    struct state s;
    if (!device) {
        fprintf(stderr, "opencl.c: no OpenCL device\n");
        return 77;
    }
    open_state(&s, device);
    for (int i = 0; i < steps + WARM_UP; ++i) {
        STINT_FOR_TIMING(if (i == WARM_UP) {
            stint_gpu_flush(); /* its times are read before they are left out */
            stint_reset();
        })
        run_step(&s);
    }
    int wrong = check_result(&s, steps + WARM_UP);
    STINT_FOR_TIMING(stint_gpu_flush(); stint_report(NULL);)
    close_state(&s);
    return wrong;
}
