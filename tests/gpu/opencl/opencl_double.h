/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A double of libOpenCL.so.1: queues whose markers are complete when the test says so, at times
 * that the test says. It aborts where OpenCL says "undefined": at a handle that was released.
 *
 * Its assumptions are from Khronos' reference pages of the functions (registry.khronos.org/OpenCL,
 * sdk/latest/docs/man/html), which have the specification's text:
 *   clEnqueueMarkerWithWaitList  without a list it "waits until all previous enqueued commands
 *                                [...] have completed"
 *   clFlush                      commands "are issued to the device"; nothing says that they are
 *                                before, so they are not
 *   clReleaseCommandQueue        the queue is deleted "after the command_queue reference count
 *                                becomes zero" and its commands have finished. No implicit flush
 *                                here: the library flushes before it polls
 *   clReleaseEvent               the same for events; one too many "causes undefined behavior"
 *   clGetEventProfilingInfo      CL_PROFILING_INFO_NOT_AVAILABLE without profiling, or before the
 *                                command is complete: both seen with pocl 3.1
 *   clGetEventInfo               the status may be an "error code given by a negative integer
 *                                value", where the "command was abnormally terminated". The page of
 *                                clSetUserEventStatus names a cause: such a status of a user event
 *                                terminates the commands that wait on it. opencl_test.c does that
 *                                to a real device; pocl 3.1 gives them the status -1
 *   clWaitForEvents              CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14) if the status
 *                                of an event "is a negative integer value": seen with pocl 3.1
 */
#ifndef STINT_TESTS_OPENCL_DOUBLE_H
#define STINT_TESTS_OPENCL_DOUBLE_H

#include <stdint.h>

#define OPENCL_DOUBLE_CALLS(X)                                                                     \
    X(clGetCommandQueueInfo)                                                                       \
    X(clGetDeviceInfo)                                                                             \
    X(clGetEventInfo)                                                                              \
    X(clGetEventProfilingInfo)                                                                     \
    X(clEnqueueMarkerWithWaitList)                                                                 \
    X(clWaitForEvents)                                                                             \
    X(clReleaseEvent)                                                                              \
    X(clRetainCommandQueue)                                                                        \
    X(clReleaseCommandQueue)                                                                       \
    X(clFlush)

/* A queue of that device (0 or 1), with a count of 1. */
void *cl_double_queue(unsigned device, int profiling);
/* Work of that many ns, as a kernel; a queue's clock begins at a time of its own. */
void cl_double_work(void *queue, uint64_t ns);
/* The work of the queue is not begun (held) until it is not any more. */
void cl_double_hold(void *queue, int held);
/* The commands that end from now on have failed with that code; 0: not. */
void cl_double_break(void *queue, int code);
/* The function returns that code from now on; 0: it works. */
void cl_double_fail(const char *function, int code);

/* The number of calls of the function. */
unsigned cl_double_calls(const char *function);
/* Queues and events that were not deleted yet. */
unsigned cl_double_queues(void);
unsigned cl_double_events(void);

#endif
