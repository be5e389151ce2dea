/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that were seen in API calls of the session, to ask the driver for each whether it is
 * being captured: a wait for a context with such a stream ends the capture. The driver's answer
 * counts, so that a begin that failed, an end whose begin was not seen and calls that are seen
 * under the runtime's and the driver's name need no care. Written by callbacks on any thread,
 * without a lock.
 *
 * The legacy stream cannot be captured. The default stream of a thread can be asked for by that
 * thread alone, but is a blocking stream: the driver answers for the legacy stream while one is
 * captured (cuda.h of CUDA 13.0 at cuStreamIsCapturing). cupti_contexts.c asks for that one.
 *
 * The driver must not be asked for a destroyed stream. The callback at the begin of a call that
 * destroys it removes it, and lets a question under way end.
 *
 * The destruction of streams is not seen between sessions, so that a session begins with an empty
 * table. A capture whose end was not seen yet is kept by its stream's name: until that stream is
 * seen again it counts as captured, without a question.
 *
 * A call that begins a capture is held up while a context is waited for: the wait would end the
 * capture.
 */
#include "cupti_private.h"

#include <sched.h>
#include <unistd.h>

#include "base/hash.h"
#include "gpu/gpu.h"

#define BUCKETS 256u
#define WAYS 4u
#define CAPTURES 64u
/* A question takes the driver less than 1 us, but the thread that asks may lose its processor. */
#define YIELDS_MAX 1000
/* The work that is waited for may need the thread that begins a capture: 1 s at most. */
#define HELD_UP_MOST 10000
#define HELD_UP_US 100
#define WRONG_THREAD 908 /* cuStreamEndCapture: the capture goes on */

/* Handles, 0 = free. Any thread; sequentially consistent where they are taken out and asked for. */
static uint64_t streams[BUCKETS][WAYS];
static uint64_t captures[CAPTURES]; /* whose captures began and have not ended */
static uint32_t askers;             /* threads that may be asking; likewise */
static uint32_t beginners;          /* calls that begin a capture, under way; likewise */
static uint32_t context_waits;      /* with the questions before them; likewise */
static int is_incomplete;           /* there was no room for a handle; relaxed */

/* Default streams have small numbers. */
static int stream_has_handle(uint64_t stream) {
    return stream > (uintptr_t)GPU_STREAM_PER_THREAD;
}

static uint64_t *streams_get_bucket(uint64_t stream) {
    return streams[hash_number(stream) % BUCKETS];
}

static int handles_have(const uint64_t *handles, unsigned count, uint64_t handle) {
    for (unsigned i = 0; i < count; ++i) {
        if (__atomic_load_n(&handles[i], __ATOMIC_RELAXED) == handle) {
            return 1;
        }
    }
    return 0;
}

/* Two threads may add one handle twice. */
static void handles_add(uint64_t *handles, unsigned count, uint64_t handle) {
    if (handles_have(handles, count, handle)) {
        return;
    }
    for (unsigned i = 0; i < count; ++i) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&handles[i], &none, handle, 0, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
            return;
        }
    }
    __atomic_store_n(&is_incomplete, 1, __ATOMIC_RELAXED);
}

/* Returns whether it was there. */
static int handles_remove(uint64_t *handles, unsigned count, uint64_t handle) {
    int found = 0;
    for (unsigned i = 0; i < count; ++i) {
        uint64_t have = handle;
        found |= __atomic_compare_exchange_n(&handles[i], &have, 0, 0, __ATOMIC_SEQ_CST,
                                             __ATOMIC_RELAXED);
    }
    return found;
}

static void handles_clear(uint64_t *handles, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        __atomic_store_n(&handles[i], 0, __ATOMIC_SEQ_CST);
    }
}

/* A question that began before the handle was taken out. */
static void streams_let_askers_end(void) {
    for (int i = 0; i < YIELDS_MAX && __atomic_load_n(&askers, __ATOMIC_SEQ_CST); ++i) {
        sched_yield();
    }
}

/* ---- By callbacks. */

void cupti_streams_note(uint64_t stream) {
    if (stream_has_handle(stream)) {
        handles_add(streams_get_bucket(stream), WAYS, stream);
    }
}

/* Either this thread sees the wait, or the one that waits sees this call. */
void cupti_streams_capture_begins(void) {
    __atomic_fetch_add(&beginners, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < HELD_UP_MOST && __atomic_load_n(&context_waits, __ATOMIC_SEQ_CST); ++i) {
        usleep(HELD_UP_US);
    }
}

void cupti_streams_capture_begun(uint64_t stream, int code) {
    if (!code && stream_has_handle(stream)) {
        handles_add(captures, CAPTURES, stream);
    }
    uint32_t have = __atomic_load_n(&beginners, __ATOMIC_SEQ_CST);
    while (have && !__atomic_compare_exchange_n(&beginners, &have, have - 1, 0, __ATOMIC_SEQ_CST,
                                                __ATOMIC_SEQ_CST)) {
    }
}

void cupti_streams_capture_ended(uint64_t stream, int code) {
    if (code != WRONG_THREAD) {
        handles_remove(captures, CAPTURES, stream);
    }
}

void cupti_streams_destroy(uint64_t stream) {
    handles_remove(captures, CAPTURES, stream);
    if (stream_has_handle(stream) && handles_remove(streams_get_bucket(stream), WAYS, stream)) {
        streams_let_askers_end();
    }
}

static int captures_are_over(void) {
    for (unsigned i = 0; i < CAPTURES; ++i) {
        if (__atomic_load_n(&captures[i], __ATOMIC_RELAXED)) {
            return 0;
        }
    }
    return 1;
}

static void streams_clear(void) {
    handles_clear(&streams[0][0], BUCKETS * WAYS);
    if (captures_are_over()) {
        __atomic_store_n(&is_incomplete, 0, __ATOMIC_RELAXED);
    }
}

void cupti_streams_destroy_all(void) {
    handles_clear(captures, CAPTURES);
    streams_clear();
    streams_let_askers_end();
}

/* ---- By the session. */

void cupti_streams_end_session(void) {
    streams_clear();
    __atomic_store_n(&beginners, 0, __ATOMIC_SEQ_CST); /* their ends are not seen */
}

/* An error leaves it in doubt. */
static int stream_is_captured(const struct gpu_ops *gpu, uint64_t stream) {
    int yes = 0;
    if (gpu_capturing(gpu, (void *)(uintptr_t)stream, &yes) || yes) {
        return 1;
    }
    handles_remove(captures, CAPTURES, stream);
    return 0;
}

static int streams_ask(const struct gpu_ops *gpu, const uint64_t *handle) {
    int captured = 0;
    __atomic_fetch_add(&askers, 1, __ATOMIC_SEQ_CST);
    uint64_t stream = __atomic_load_n(handle, __ATOMIC_SEQ_CST);
    if (stream) {
        captured = stream_is_captured(gpu, stream);
    }
    __atomic_fetch_sub(&askers, 1, __ATOMIC_SEQ_CST);
    return captured;
}

void cupti_streams_wait_begins(void) {
    __atomic_fetch_add(&context_waits, 1, __ATOMIC_SEQ_CST);
}

void cupti_streams_wait_ended(void) {
    __atomic_fetch_sub(&context_waits, 1, __ATOMIC_SEQ_CST);
}

int cupti_streams_are_captured(const struct gpu_ops *gpu) {
    if (__atomic_load_n(&is_incomplete, __ATOMIC_RELAXED) ||
        __atomic_load_n(&beginners, __ATOMIC_SEQ_CST)) {
        return 1;
    }
    for (unsigned i = 0; i < BUCKETS * WAYS; ++i) {
        const uint64_t *handle = &streams[i / WAYS][i % WAYS];
        if (__atomic_load_n(handle, __ATOMIC_RELAXED) && streams_ask(gpu, handle)) {
            return 1;
        }
    }
    return !captures_are_over(); /* of streams that cannot be asked for */
}
