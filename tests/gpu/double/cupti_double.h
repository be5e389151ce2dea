/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUPTI for tests: every function of gen/cupti.ini, and a program that uses a GPU which is not
 * there.
 *
 * A program under test loads it as it would CUPTI (STINT_CUPTI_LIB=CUPTI_DOUBLE_LIBRARY, which
 * CMake defines for targets that link stint_cupti_double). A test links it too and is the program:
 * it makes "CUDA calls" from here, on any thread. Times are those of a clock of its own, in ns,
 * which differs from stint_fake's by some 54 years, as CLOCK_REALTIME differs from the time of the
 * recorder (that is CUPTI's clock by default, cupti_activity.h at
 * cuptiActivityRegisterTimestampCallback, and cuptiGetTimestamp returns "a timestamp normalized to
 * correspond with the start and end timestamps reported in the CUPTI activity records",
 * cupti_activity.h at cuptiGetTimestamp). Tell the double how to read and advance the clock of
 * stint_fake:
 *
 *     setenv("STINT_GPU", "cupti", 1);                     // or tracer_start() by hand
 *     setenv("STINT_CUPTI_LIB", CUPTI_DOUBLE_LIBRARY, 1);
 *     cupti_double_reset(fake_advance, fake_read);
 *     REGISTER_TIMER("step");
 *     cupti_double_copy(&(struct cupti_double_copy){.direction = 1, .bytes = 4096, .ns = 2000});
 *     cupti_double_launch(&(struct cupti_double_kernel){.name = "_Z3addPf", .ns = 5000});
 *     cupti_double_wait(CUPTI_DOUBLE_ALL, 0, 0);           // "cudaDeviceSynchronize"
 *     stint_gpu_flush();                                   // the records arrive
 *
 * The headers are those of CUDA 13.0; statements with their sources are in assumptions.md.
 *
 * Flushing is as in cupti_activity.h at cuptiActivityFlushAll: flag 0 "returns all
 * the activity buffers which have all the activity records completed", so that one record that is
 * incomplete keeps all others of its buffer (here: of all that is not delivered yet). A forced
 * flush returns the others too; their incomplete records have no times, and do not come again.
 *
 * A call takes 1000 ns on the host (cupti_double_call_ns). What it starts on the GPU starts when
 * the stream is through with what came before, at the earliest `late` ns after the call's end.
 * Streams are numbers; each device has its own. Nothing is traced unless the kind of record was
 * enabled.
 */
#ifndef STINT_TESTS_CUPTI_DOUBLE_H
#define STINT_TESTS_CUPTI_DOUBLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Resets all to the state after loading. advance moves the clock that `now` reads. If both are
 * NULL, the double has a clock of its own, which only its calls move. */
void cupti_double_reset(void (*advance)(uint64_t ns), uint64_t (*now)(void));
/* The same clock from now on, without a reset: it goes on from where it was. */
void cupti_double_clock(void (*advance)(uint64_t ns), uint64_t (*now)(void));
void cupti_double_call_ns(uint64_t ns);
/* Calls are made in that context of the driver; NULL: callbacks have none. */
void cupti_double_context(void *context);

/* ---- The program -------------------------------------------------------------------------------
 * All return the correlation of the call. What is 0 need not be said. */

struct cupti_double_kernel {
    const char *name; /* as the compiler mangled it; must stay */
    uint32_t device, context, stream;
    uint64_t ns, late;
    uint32_t grid[3], block[3]; /* 0 = 1 */
    uint32_t registers, shared_static, shared_dynamic;
    const void *handle; /* the stream's, in the parameters of the call */
};
/* "cudaLaunchKernel", and in it "cuLaunchKernel". */
uint32_t cupti_double_launch(const struct cupti_double_kernel *k);
/* A launch as nvcc 13 compiles <<<>>>: "__cudaPushCallConfiguration", "__cudaPopCallConfiguration"
 * and
 * "__cudaLaunchKernel", and in the last "cuLaunchKernel". Source: the undefined symbols of an
 * object file of nvcc 13.0. */
uint32_t cupti_double_launch_13(const struct cupti_double_kernel *k);
/* "cudaGraphLaunch" of these, one after the other where they share a stream. */
uint32_t cupti_double_graph(const struct cupti_double_kernel *nodes, unsigned count);

struct cupti_double_copy {
    uint32_t device, context, stream;
    uint64_t ns, late, bytes;
    uint32_t direction; /* as CUPTI numbers it: 1 = host to device, 2 = device to host, ... */
    uint32_t from, to;  /* kinds of memory: 1 = pageable, 2 = pinned, 3 = device, ... */
    int async;          /* "cudaMemcpyAsync"; 0: "cudaMemcpy", which waits */
    int peer;           /* a record of its own, with two devices */
};
uint32_t cupti_double_copy(const struct cupti_double_copy *c);
/* "cudaMemsetAsync"; memory as above. */
uint32_t cupti_double_fill(uint32_t device, uint32_t stream, uint64_t bytes, uint32_t memory,
                           uint64_t ns);

#define CUPTI_DOUBLE_EVENT 1  /* "cudaEventSynchronize": of the stream's work until now */
#define CUPTI_DOUBLE_STREAM 3 /* "cudaStreamSynchronize" */
#define CUPTI_DOUBLE_ALL 4    /* "cudaDeviceSynchronize" */
/* Waits, at least as long as any call takes. */
uint32_t cupti_double_wait(int type, uint32_t device, uint32_t stream);
/* "cudaEventQuery": a wait by its record, but none. */
uint32_t cupti_double_query(uint32_t device, uint32_t stream);

/* "cudaMalloc", "cudaFree"; memory: 3 = device. */
uint32_t cupti_double_alloc(uint32_t device, uint64_t address, uint64_t bytes, uint32_t memory);
uint32_t cupti_double_free(uint32_t device, uint64_t address, uint64_t bytes, uint32_t memory);
/* Makes any other call, by its name in the runtime or driver API ("cudaGetDevice",
 * "cuEventRecord"). */
uint32_t cupti_double_call(const char *name);
/* Makes such a call that returns `code`. */
uint32_t cupti_double_call_code(const char *name, int code);
/* Makes such a call whose first parameter is `stream`. */
uint32_t cupti_double_call_on(const char *name, const void *stream, int code);
/* The tracer's own, as CUPTI numbers it. */
void cupti_double_overhead(uint32_t kind, uint64_t ns);

/* ---- What can go wrong */

/* "cuptiSubscribe=39,cuptiActivityEnable:3=35": each call of the one returns 39, the third call
 * from now of the other 35; a fault has no other effect. NULL or "": none. Also by the environment
 * at load: STINT_CUPTI_DOUBLE_FAIL, of the old one STINT_CUPTI_DOUBLE_OLD_FAIL. Returns 0, or -1 if
 * it cannot be read. */
int cupti_double_fail(const char *faults);
/* Also by the environment at load: STINT_CUPTI_DOUBLE_VERSION. */
void cupti_double_version(uint32_t version);
/* Sets the bytes of a record of `kind` (at most 512); 0 means as in CUDA 13.0. */
void cupti_double_stride(uint32_t kind, size_t bytes);
/* Reports that many records as dropped. */
void cupti_double_drop(size_t records);
/* A record as it is, of any kind and time; `size` bytes are copied, the stride is written. */
void cupti_double_record(const void *record, size_t size);
/* The next device record has these times instead. */
void cupti_double_times(uint64_t start, uint64_t end);
/* Its clock is set to another time, or runs faster (slower) from now on. */
void cupti_double_clock_step(int64_t ns);
void cupti_double_clock_drift(int32_t ppm);
/* on: buffers are kept when they are full or flushed; 0: they are delivered, the last one first. */
void cupti_double_hold(int on);
/* Delivers complete records, as CUPTI's own thread does, but from the calling thread; with buffers
 * per thread, only those of the calling thread. */
void cupti_double_deliver(void);

/* Another client in the process registers buffer callbacks of its own, and has all records from
 * then on, also those of the buffer that is being filled. Sources: cupti_activity.h at
 * cuptiActivityRegisterCallbacks has one pair of functions and no subscriber; Kineto calls it
 * although its cuptiSubscribe failed (kineto, CuptiActivityApi.cpp). No source says that the buffer
 * under way goes to the new pair and not to the one that gave it: nothing depends on it. */
void cupti_double_take_over(void);
size_t cupti_double_taken(void); /* bytes that it has got */

/* Another client in the process has subscribed with cuptiSubscribe_v2 and allows others. Of version
 * 130300 and later; sources as at the functions in cupti_double.c. */
void cupti_double_other_scoped(int on);

/* ---- What was asked of it */

uint64_t cupti_double_calls(const char *function);
uint64_t cupti_double_calls_all(void);
/* Names of the functions, from the first call on, each once, one space between them. */
const char *cupti_double_order(void);
int cupti_double_subscribed(void);
/* Whether that was by cuptiSubscribe_v2, and whether global functions were called beside the
 * functions per subscriber, which CUPTI refuses. */
int cupti_double_scoped(void);
int cupti_double_mixed(void);
/* Whether records are in buffers per thread, as by default from version 130000 on (cupti_activity.h
 * at CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER: "The default value is 1"); and
 * whether that was changed after the callbacks were registered, which is undefined behaviour. */
int cupti_double_per_thread(void);
int cupti_double_misused(void);
int cupti_double_enabled(uint32_t kind);        /* a kind of records */
int cupti_double_calls_back(const char *api);   /* whether a call of that name does */
int cupti_double_records_call(const char *api); /* whether there would be a record of it */
uint64_t cupti_double_buffers(void);            /* asked for */
uint64_t cupti_double_refused(void);            /* and not given */
uint64_t cupti_double_now(void);                /* by its own clock */

/* Called before each call of CUPTI with its name, outside the double's lock. NULL: none. */
void cupti_double_hook(void (*hook)(const char *function, void *data), void *data);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
