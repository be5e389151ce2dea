/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the binary interface of OpenCL 1.2 that gpu_opencl.c uses: handles are pointers,
 * sizes are size_t, codes are int. The test gpu_opencl_header compares it with CL/cl.h.
 */
#ifndef STINT_OPENCL_ABI_H
#define STINT_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

enum opencl_constant {
    OPENCL_PROFILING_INFO_NOT_AVAILABLE = -7,
    OPENCL_OUT_OF_HOST_MEMORY = -6,
    OPENCL_COMPLETE = 0,
    OPENCL_QUEUE_PROFILING_ENABLE = 1 << 1,
    OPENCL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,       /* cl_uint */
    OPENCL_DEVICE_NAME = 0x102B,                    /* char[] */
    OPENCL_QUEUE_DEVICE = 0x1091,                   /* cl_device_id */
    OPENCL_QUEUE_PROPERTIES = 0x1093,               /* cl_command_queue_properties, 64 bits */
    OPENCL_EVENT_COMMAND_EXECUTION_STATUS = 0x11D3, /* cl_int; below 0: an error */
    OPENCL_PROFILING_COMMAND_END = 0x1283           /* cl_ulong, ns of the device's clock */
};

/* The four clGet...Info: the object, its property, the room for it, where to, the bytes. */
typedef int (*opencl_get_info)(void *, uint32_t, size_t, void *, size_t *);
/* Queue, events to wait for, the new event. */
typedef int (*opencl_enqueue_marker)(void *, uint32_t, void *const *, void **);
typedef int (*opencl_wait_for)(uint32_t, void *const *);
typedef int (*opencl_call_one)(void *); /* retain, release, flush */

#endif
