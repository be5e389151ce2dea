/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the back end's assumptions about OpenCL's binary interface with Khronos' header.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "gpu/opencl_abi.h"
#include "harness.h"

TEST(opencl_header, constants) {
    CHECK(OPENCL_PROFILING_INFO_NOT_AVAILABLE == CL_PROFILING_INFO_NOT_AVAILABLE);
    CHECK(OPENCL_OUT_OF_HOST_MEMORY == CL_OUT_OF_HOST_MEMORY);
    CHECK(OPENCL_COMPLETE == CL_COMPLETE && CL_SUCCESS == 0);
    CHECK(OPENCL_QUEUE_PROFILING_ENABLE == CL_QUEUE_PROFILING_ENABLE);
    CHECK(OPENCL_DEVICE_MAX_COMPUTE_UNITS == CL_DEVICE_MAX_COMPUTE_UNITS);
    CHECK(OPENCL_DEVICE_NAME == CL_DEVICE_NAME);
    CHECK(OPENCL_QUEUE_DEVICE == CL_QUEUE_DEVICE);
    CHECK(OPENCL_QUEUE_PROPERTIES == CL_QUEUE_PROPERTIES);
    CHECK(OPENCL_EVENT_COMMAND_EXECUTION_STATUS == CL_EVENT_COMMAND_EXECUTION_STATUS);
    CHECK(OPENCL_PROFILING_COMMAND_END == CL_PROFILING_COMMAND_END);
}

/* A type is compared by size and sign; a handle is a pointer. */
#define IS_INT(type) (sizeof(type) == sizeof(int) && (type)-1 < 0)
#define IS_POINTER(type) (sizeof(type) == sizeof(void *))

TEST(opencl_header, types) {
    CHECK(IS_INT(cl_int));
    CHECK(sizeof(cl_uint) == sizeof(uint32_t) && (cl_uint)-1 > 0);
    CHECK(sizeof(cl_ulong) == sizeof(uint64_t));
    CHECK(sizeof(cl_command_queue_properties) == sizeof(uint64_t));
    CHECK(IS_POINTER(cl_command_queue) && IS_POINTER(cl_event) && IS_POINTER(cl_device_id));
    /* These lines do not compile if a function has other arguments. */
    cl_int (*queue_info)(cl_command_queue, cl_command_queue_info, size_t, void *, size_t *) =
        clGetCommandQueueInfo;
    cl_int (*device_info)(cl_device_id, cl_device_info, size_t, void *, size_t *) = clGetDeviceInfo;
    cl_int (*event_info)(cl_event, cl_event_info, size_t, void *, size_t *) = clGetEventInfo;
    cl_int (*profiling)(cl_event, cl_profiling_info, size_t, void *, size_t *) =
        clGetEventProfilingInfo;
    cl_int (*marker)(cl_command_queue, cl_uint, const cl_event *, cl_event *) =
        clEnqueueMarkerWithWaitList;
    cl_int (*wait)(cl_uint, const cl_event *) = clWaitForEvents;
    CHECK(queue_info && device_info && event_info && profiling && marker && wait);
    CHECK(sizeof(cl_command_queue_info) == sizeof(uint32_t) &&
          sizeof(cl_device_info) == sizeof(uint32_t) && sizeof(cl_event_info) == sizeof(uint32_t) &&
          sizeof(cl_profiling_info) == sizeof(uint32_t));
}
