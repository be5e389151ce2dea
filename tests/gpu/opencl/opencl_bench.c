/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_bench: the cost of a scope on a command queue, as a multiple of the least that it can make
 * of OpenCL: two markers, and the releases of two. Both are measured in turn in one process, in CPU
 * time of the thread, and of each the lowest round counts. A second base has all calls of a scope.
 * No test, as it depends on the machine. Exit status 77: there is no device; 1: OpenCL failed.
 */
#include <stdio.h>
#include <time.h>

#include "opencl_device.h"
#include "stint/stint.h"

#define SCOPES 500 /* fewer than STINT_GPU_IN_FLIGHT */
#define ROUNDS 201

static cl_command_queue queue;
static cl_event markers[2 * SCOPES];

static double thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void run_markers(void) {
    for (int i = 0; i < SCOPES; ++i) {
        clEnqueueMarkerWithWaitList(queue, 0, NULL, &markers[2 * i]);
        clEnqueueMarkerWithWaitList(queue, 0, NULL, &markers[2 * i + 1]);
    }
}

static void release_markers(void) {
    for (int i = 0; i < 2 * SCOPES; ++i) {
        clReleaseEvent(markers[i]);
    }
}

/* The other calls of a scope: for the queue's properties and device, a flush, the state of the
 * second marker, the wait for it (stint_gpu_flush), and the times of both. */
static void ask_all(void) {
    cl_ulong number;
    cl_device_id device;
    cl_int status;
    for (int i = 0; i < SCOPES; ++i) {
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof number, &number, NULL);
        clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
        clRetainCommandQueue(queue);
        clRetainCommandQueue(queue);
        clFlush(queue);
        clGetEventInfo(markers[2 * i + 1], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                       &status, NULL);
        clWaitForEvents(1, &markers[2 * i + 1]);
        for (int j = 0; j < 2; ++j) {
            clGetEventProfilingInfo(markers[2 * i + j], CL_PROFILING_COMMAND_END, sizeof number,
                                    &number, NULL);
        }
        clReleaseCommandQueue(queue);
        clReleaseCommandQueue(queue);
    }
}

static void run_scopes(void) {
    for (int i = 0; i < SCOPES; ++i) {
        STINT_CL_TIMER("scope", queue);
    }
}

static void keep_lowest(double *lowest, double ns) {
    if (*lowest == 0 || ns < *lowest) {
        *lowest = ns;
    }
}

int main(void) {
    double base = 0, all = 0, scope = 0;
    cl_context context;
    int failed = opencl_open_queue(&context, &queue);
    if (failed) {
        fprintf(stderr, "%s\n",
                failed == OPENCL_SKIPPED ? "skipped: " OPENCL_NO_DEVICE : "OpenCL failed");
        return failed;
    }
    for (int round = 0; round < ROUNDS; ++round) {
        double begun = thread_ns();
        run_markers();
        double made = thread_ns() - begun;
        clFinish(queue);
        begun = thread_ns();
        ask_all();
        double asked = thread_ns() - begun;
        begun = thread_ns();
        release_markers();
        double released = thread_ns() - begun;
        keep_lowest(&base, (made + released) / SCOPES);
        keep_lowest(&all, (made + asked + released) / SCOPES);
        begun = thread_ns();
        run_scopes();
        double first = thread_ns() - begun;
        clFinish(queue);
        begun = thread_ns();
        stint_gpu_flush();
        keep_lowest(&scope, (first + thread_ns() - begun) / SCOPES);
    }
    printf("two markers and releases %.0f ns, with all calls of a scope %.0f ns, scope %.0f ns: "
           "%.2f and %.2f\n",
           base, all, scope, scope / base, scope / all);
    return 0;
}
