/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with scopes on a queue of any OpenCL device, for opencl_reports.py.
 *
 *     opencl_program [held]   held: it ends while its last work has not begun
 *
 * Exit: 3 at its end, 77 there is no device, 1 OpenCL failed.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "opencl_device.h"
#include "stint/stint.h"

#define STEPS 20
#define BYTES (1 << 20)

static cl_uint pattern = 7;

static void run_steps(cl_command_queue queue, cl_mem buffer) {
    STINT_TIMER("steps");
    for (int i = 0; i < STEPS; ++i) {
        STINT_CL_TIMER("fill", queue);
        clEnqueueFillBuffer(queue, buffer, &pattern, sizeof pattern, 0, BYTES, 0, NULL, NULL);
    }
    clFinish(queue);
}

int main(int argc, char **argv) {
    cl_context context;
    cl_command_queue queue;
    cl_int code = -1;
    int failed = opencl_open_queue(&context, &queue);
    if (failed == OPENCL_SKIPPED) {
        fprintf(stderr, "skipped: " OPENCL_NO_DEVICE "\n");
    }
    if (failed) {
        return failed;
    }
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &code);
    if (code) {
        return 1;
    }
    run_steps(queue, buffer);
    if (argc > 1 && !strcmp(argv[1], "held")) {
        cl_event gate = clCreateUserEvent(context, &code);
        if (code || clEnqueueMarkerWithWaitList(queue, 1, &gate, NULL)) {
            return 1;
        }
        STINT_CL_TIMER("held", queue);
    }
    printf("main ends\n");
    fflush(stdout);
    return 3;
}
