/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA driver for tests: every function of gen/driver.ini on virtual time, with no GPU.
 *
 * A program under test loads it as it would the driver (STINT_CUDA_LIB=DOUBLE_LIBRARY, which CMake
 * defines for targets that link stint_cuda_double). A test that also links it steers it from here;
 * both are then the same copy. All functions may be called from any thread.
 *
 * Time does not advance but by double_advance() or a wait. A stream has a cursor, the moment
 * its work will be done; an event recorded on it stores the cursor. Everything is in ns.
 *
 *     double_init();                                       // "cuInit", device 0, a current context
 *     void *s = double_stream_new(NULL);
 *     { REGISTER_GPU_TIMER("x", s); double_launch(s, 5000); }
 *     double_advance(5000);                                // now the pair is done: 5000 ns
 *
 * Statements about the real driver and their sources are in assumptions.md.
 *
 * Not as the real one: capture rules are read from the documentation; elapsed has no quantum but
 * that of a float in ms.
 */
#ifndef STINT_TESTS_CUDA_DOUBLE_H
#define STINT_TESTS_CUDA_DOUBLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- State -------------------------------------------------------------------------------------
 * Before double_init() every call returns 3; after double_shutdown(), 4 (cuda.h at
 * CUDA_ERROR_DEINITIALIZED). */

void double_reset(void); /* as freshly loaded: no time, no contexts, no counts, no faults */
void double_init(void);  /* and device 0's primary context, current to the calling thread */
void double_init_without_context(void);
void double_shutdown(void);

uint64_t double_now(void);
void double_advance(uint64_t ns);

/* ---- Contexts and streams ----------------------------------------------------------------------
 * Handles are never reused, so a destroyed one is known as such. A context takes its streams and
 * events with it. To use a destroyed context or its events is undefined behaviour (cuda.h at
 * cuCtxDestroy and cuda_runtime_api.h at cudaDeviceReset): the double then prints a line and
 * aborts. Only a destroyed context that is still current to the calling thread gives 709 (cuda.h at
 * cuCtxDestroy, which says so for contexts that another thread has destroyed). A destroyed stream
 * is an error of the program that nothing can detect; the double returns 400, which has no
 * source. */

void *double_context_new(int device); /* does not make it current */
void double_context_destroy(void *context);
/* Destroys it and makes a new one at the same address, with another id, as cudaDeviceReset and a
 * first call after it may; it stays current where it was. An id is "unique for the life of the
 * program" (cuda.h at cuCtxGetId). No source says that a reset makes another one, or which is
 * current after it: the check context_ids of first_contact.cu prints both ids. */
void double_context_replace(void *context);
void double_context_make_current(void *context); /* to the calling thread; NULL: none */
void *double_context_current(void);

/* The primary context of a device: use adds a reference, as the runtime's first call does, and
 * makes it if it is not active. It is destroyed with the last reference (cuda.h at
 * cuDevicePrimaryCtxRelease), or by a reset, as by cudaDeviceReset and cuDevicePrimaryCtxReset,
 * which takes no reference away and after which any call makes it again (at these functions).
 * Neither "pops the context from stack". cuDevicePrimaryCtxRetain of one that is not active makes
 * it (cuda.h), which is counted (cuda.h at
 * cuDevicePrimaryCtxRetain). */
void *double_primary_use(int device);
void double_primary_drop(int device); /* one reference */
void double_primary_reset(int device);
uint64_t double_primary_references(int device);
uint64_t double_primaries_made(void);

/* context NULL: the calling thread's. A blocking stream: one the legacy stream waits for. */
void *double_stream_new(void *context);
void *double_stream_new_nonblocking(void *context);
void double_stream_destroy(void *stream);

/* Queues work of that length: it starts at max(now, end of the stream's work). Streams 1 and NULL
 * (legacy) and 2 (per thread) are those of the calling thread's current context. On a stream being
 * captured it becomes part of the graph and takes no time. Returns the driver's code. */
int double_launch(void *stream, uint64_t ns);
uint64_t double_stream_end(void *stream); /* when its work will be done */

/* ---- Stream capture ----------------------------------------------------------------------------
 * Modes as cuStreamBeginCapture's: 0 global, 1 thread-local, 2 relaxed. While a capture in mode 0
 * is under way, a cuEventQuery or cuEventSynchronize of any thread that is not itself in relaxed
 * mode fails (900) and invalidates it; a capture in mode 1, those of its own thread. A record on
 * the legacy stream invalidates those of blocking streams of its context (906).
 *
 * Sources: the modes and 900, cuda.h at cuThreadExchangeStreamCaptureMode, which speaks of
 * "potentially unsafe API calls"; that cuEventQuery is one, pytorch/pytorch#104487. 906, cuda.h at
 * cuStreamIsCapturing. That other calls are safe in every mode has no source. */

int double_capture_begin(void *stream, int mode);
/* 0, or 901 if something invalidated it. */
int double_capture_end(void *stream);
int double_capture_invalidated(void *stream);

/* ---- Devices -----------------------------------------------------------------------------------
 * Four, numbers 0 to 3, of compute capability 9.0 with 132 multiprocessors at 1980 MHz and 6144 bit
 * of memory at 3201 MHz. Other attributes are 0 until set. */

/* The number that cuDeviceGetCount returns; the other devices exist as before. */
void double_device_count(int count);
void double_device_attribute(int device, int attribute, int value);
void double_device_name(int device, const char *name);
void double_driver_version(int version);

/* ---- What was called ---------------------------------------------------------------------------
 * By the table's names, without "_v2" where the driver's header hides it: both are understood. */

uint64_t double_calls(const char *function);
uint64_t double_calls_all(void);
void double_calls_clear(void);
/* Returns the number of calls that wait for the GPU: cuEventSynchronize is the only such function
 * in the table. */
uint64_t double_synchronise_calls(void);
uint64_t double_events_alive(void); /* created and not destroyed */
uint64_t double_events_made(void);

/* The profiler: whether it runs in the context (NULL: the calling thread's), and the sums of calls
 * that had an effect. */
int double_profiling(void *context);
uint64_t double_profiler_starts(void);
uint64_t double_profiler_stops(void);
void *double_profiler_context(void); /* that of the last call that had an effect */

/* ---- Faults ------------------------------------------------------------------------------------
 * "cuEventRecord:3=700,cuEventQuery:*=700": the third call from now of the one returns 700, all of
 * the other. A fault has no other effect: the call is not made. NULL or "": none. Also by the
 * environment at load: STINT_DOUBLE_FAIL. Returns 0, or -1 if it cannot be read. */
int double_fail(const char *faults);

/* Each record on a stream queues work of that length after it, and each query advances time by it,
 * so that programs that do not call the double get times. From the environment at load too:
 * STINT_DOUBLE_TICK, and STINT_DOUBLE_INIT=1, which is double_init() in the loading thread. */
void double_tick(uint64_t ns);

/* Called before each driver call with its name, outside the double's lock: to look at, or to
 * delay, a moment inside the code under test. NULL: none. */
void double_hook(void (*hook)(const char *function, void *data), void *data);

#ifdef __cplusplus
}
#endif

#endif
