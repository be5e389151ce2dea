/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the OpenCL device of this machine, for the programs that use a real one; pocl makes one of
 * the processor.
 */
#ifndef STINT_TESTS_OPENCL_DEVICE_H
#define STINT_TESTS_OPENCL_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stddef.h>

#define OPENCL_PLATFORMS 8
#define OPENCL_NO_DEVICE "no OpenCL device; package pocl-opencl-icd"
#define OPENCL_SKIPPED 77 /* the exit status of a program without a device */

/* Makes a context of the first device of any platform. Returns 0, OPENCL_SKIPPED if there is no
 * device, or 1 if OpenCL failed. */
static inline int opencl_open_device(cl_context *context, cl_device_id *device) {
    cl_platform_id platforms[OPENCL_PLATFORMS];
    cl_uint count = 0;
    cl_int code = CL_SUCCESS;
    *context = NULL;
    *device = NULL;
    if (clGetPlatformIDs(OPENCL_PLATFORMS, platforms, &count)) {
        return OPENCL_SKIPPED;
    }
    for (cl_uint i = 0; i < count && i < OPENCL_PLATFORMS && !*device; ++i) {
        clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, device, NULL);
    }
    if (!*device) {
        return OPENCL_SKIPPED;
    }
    *context = clCreateContext(NULL, 1, device, NULL, NULL, &code);
    return code ? 1 : 0;
}

/* The same, and makes a queue with profiling. */
static inline int opencl_open_queue(cl_context *context, cl_command_queue *queue) {
    cl_device_id device;
    cl_int code = CL_SUCCESS;
    *queue = NULL;
    int failed = opencl_open_device(context, &device);
    if (failed) {
        return failed;
    }
    *queue = clCreateCommandQueue(*context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    return code ? 1 : 0;
}

#endif
