/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callbacks of CUPTI during a session: at the begin and end of API calls, for an empty buffer and
 * with a full one, on any thread. Each keeps errno, as it is called within calls of the program;
 * none calls a function of the driver. cupti_session.c says which functions are in use.
 *
 * CUPTI makes the record of a wait for a query (cudaEventQuery, and stint's own). Which calls were
 * queries is noted in their callbacks, and such records are left out.
 */
#include <string.h>

#include "activity/activity.h"
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/errno_keep.h"
#include "cupti_private.h"
#include "gpu/gpu.h"
#include "system/clock.h"
#include "system/lock.h"

/* From this version on; before CUDA 12.9 CUPTI writes into the buffer without a check for NULL. */
#define REFUSING_IS_SAFE 27
#define BATCH 14 /* records read, then added in one go: 2 KiB of stack */
#define QUERIES 4096u
/* Own calls are known until their record comes: a buffer of 1 MiB has 26 214 of calls. */
#define OWN_CALLS 65536u
#define DEVICES 64u
#define TIMED 16u
#define READINGS 8 /* of the clock, until one is as precise as this */
#define PRECISE_NS 1000u

/* Written before CUPTI is subscribed. */
static const struct cupti *functions;
static void (*launched)(void); /* release, acquire */

/* Any thread, relaxed. */
static uint32_t loaded_version;
static int forgotten;
static int has_launched;
static uint64_t records, ticks;
static int had_old_numbers;
static uint64_t devices;              /* seen, a bit each */
static uint32_t queries[QUERIES];     /* correlations, each at itself modulo */
static uint32_t own_calls[OWN_CALLS]; /* likewise */
static int clock_error;

static struct cupti_clock clock_pairs; /* under the activity lock, while that was taken once */

/* ---- API calls. */

static void cupti_add_ticks(uint64_t begun, uint64_t times) {
    __atomic_fetch_add(&ticks, (clock_ticks() - begun) * times, __ATOMIC_RELAXED);
}

static int cupti_is_forgotten(void) {
    return __atomic_load_n(&forgotten, __ATOMIC_RELAXED);
}

static void cupti_enter_call(uint32_t correlation, unsigned use) {
    if (use & CUPTI_USE_LAUNCH) {
        activity_launch(correlation);
    } else {
        __atomic_store_n(&queries[correlation % QUERIES], correlation, __ATOMIC_RELAXED);
    }
}

/* Reading the clock takes longer than the work: one in 16 calls is timed, and counted 16 times. */
static void cupti_enter_call_timed(uint32_t correlation, unsigned use) {
    if (correlation % TIMED) {
        cupti_enter_call(correlation, use);
    } else {
        uint64_t begun = clock_ticks();
        cupti_enter_call(correlation, use);
        cupti_add_ticks(begun, TIMED);
    }
}

static void cupti_leave_launch(int has_record) {
    cupti_arrivals_leave_launch(has_record);
    if (!__atomic_load_n(&has_launched, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&has_launched, 1, __ATOMIC_RELAXED)) {
        __atomic_load_n(&launched, __ATOMIC_ACQUIRE)();
    }
}

static uint64_t cupti_read_word(uint64_t words, unsigned number) {
    uint64_t word = 0;
    if (words) {
        memcpy(&word, (const char *)(uintptr_t)words + number * sizeof word, sizeof word);
    }
    return word;
}

/* The stream that a call names; 0: none is known. */
static uint64_t cupti_get_stream(const struct cupti_callback *call, unsigned use) {
    unsigned at = use & CUPTI_STREAM_MASK;
    if (at == CUPTI_STREAM_IN_CONFIG) {
        return cupti_read_word(cupti_read_word(call->functionParams, 0), CUPTI_CONFIG_WORD);
    }
    if (at) {
        return cupti_read_word(call->functionParams, CUPTI_STREAM_WORD(use));
    }
    return 0;
}

static void cupti_forget_contexts(void) {
    cupti_contexts_forget();
    cupti_streams_destroy_all();
}

static void cupti_on_enter(const struct cupti_callback *call, unsigned use) {
    uint64_t stream = cupti_get_stream(call, use);
    if (use & CUPTI_USE_LAUNCH) {
        cupti_arrivals_enter_launch(call->correlationId);
    }
    if (use & CUPTI_USE_CONTEXT_END) {
        cupti_forget_contexts();
    }
    if (use & CUPTI_USE_STREAM_END) {
        cupti_streams_destroy(stream);
    } else {
        cupti_streams_note(stream);
    }
    if (use & (CUPTI_USE_LAUNCH | CUPTI_USE_QUERY)) {
        cupti_enter_call_timed(call->correlationId, use);
    }
    if (use & CUPTI_USE_CAPTURE) {
        cupti_streams_capture_begins();
    }
}

static void cupti_on_exit(const struct cupti_callback *call, unsigned use) {
    int code = CUPTI_OK; /* the driver's */
    if (call->functionReturnValue) {
        memcpy(&code, (const void *)(uintptr_t)call->functionReturnValue, sizeof code);
    }
    if (use & CUPTI_USE_LAUNCH) {
        cupti_leave_launch((use & CUPTI_USE_RECORD) != 0);
    }
    if (code == GPU_INVALID_HANDLE) {
        cupti_streams_destroy(cupti_get_stream(call, use));
    }
    if (use & (CUPTI_USE_LAUNCH | CUPTI_USE_QUERY) && !(use & CUPTI_USE_OUTER) &&
        cupti_arrivals_is_here()) {
        cupti_contexts_note(call->context);
    }
    if (use & CUPTI_USE_CONTEXT_END) {
        cupti_forget_contexts(); /* within such a call there may have been others */
    }
    if (use & CUPTI_USE_CAPTURE) {
        cupti_streams_capture_begun(cupti_get_stream(call, use), code);
    }
    if (use & CUPTI_USE_CAPTURE_END) {
        cupti_streams_capture_ended(cupti_get_stream(call, use), code);
    }
}

/* The thread is in a flush, which may wait, in a capture's start or stop, or uses events. */
static int cupti_is_own_call(void) {
    return lock_inside(LOCK_TRACER) || lock_inside(LOCK_EVENTS) || lock_inside(LOCK_CAPTURE);
}

void cupti_on_api(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                  const void *data) {
    ERRNO_KEEP;
    const struct cupti_callback *call = data;
    (void)user;
    if (cupti_is_forgotten()) {
        return;
    }
    unsigned use = cupti_get_use(domain, cbid);
    if (cupti_is_own_call()) {
        __atomic_store_n(&own_calls[call->correlationId % OWN_CALLS], call->correlationId,
                         __ATOMIC_RELAXED);
    } else if (call->callbackSite == CUPTI_API_ENTER) {
        cupti_on_enter(call, use);
    } else {
        cupti_on_exit(call, use);
    }
}

void cupti_on_request(uint8_t **buffer, size_t *size, size_t *max_records) {
    ERRNO_KEEP;
    uint64_t begun = clock_ticks();
    *buffer = cupti_get_buffer(size, __atomic_load_n(&loaded_version, __ATOMIC_RELAXED) <
                                         REFUSING_IS_SAFE);
    *max_records = 0; /* as many as fit */
    cupti_arrivals_give_buffer(*size);
    cupti_add_ticks(begun, 1);
}

/* A record of a query's wait, or of a call of stint's own. */
static int cupti_is_left_out(const struct activity_record *r) {
    uint32_t c = r->correlation;
    if (!c) {
        return 0;
    }
    if (__atomic_load_n(&own_calls[c % OWN_CALLS], __ATOMIC_RELAXED) == c) {
        return 1;
    }
    return r->kind == ACTIVITY_SYNC &&
           __atomic_load_n(&queries[c % QUERIES], __ATOMIC_RELAXED) == c;
}

static void cupti_note_device(uint32_t number) {
    uint64_t bit = 0;
    if (number < DEVICES) {
        bit = (uint64_t)1 << number;
    }
    if (bit & ~__atomic_load_n(&devices, __ATOMIC_RELAXED)) {
        __atomic_fetch_or(&devices, bit, __ATOMIC_RELAXED);
    }
}

/* ---- CUPTI's clock */

/* The most precise of some readings: a thread may lose its processor during one. Returns CUPTI's
 * code. */
static int cupti_read_clock(struct cupti_reading *best) {
    int code = CUPTI_OK;
    for (int i = 0; i < READINGS && !code; ++i) {
        struct cupti_reading r = {.before = activity_clock()};
        code = cupti_scope_read_clock(functions, &r.theirs);
        r.after = activity_clock();
        if (r.before == 1) { /* or 0, which activity_clock does not return */
            r.before = 0;
        }
        if (!code && (i == 0 || r.after - r.before < best->after - best->before)) {
            *best = r;
        }
        if (best->after - best->before <= PRECISE_NS) {
            break;
        }
    }
    return code;
}

int cupti_refresh_clock(void) {
    struct cupti_reading reading = {0};
    if (lock_inside(LOCK_ACTIVITY)) {
        return CUPTI_OK;
    }
    int code = cupti_read_clock(&reading);
    if (!code) {
        activity_begin();
        cupti_clock_add(&clock_pairs, &reading);
        activity_end();
    }
    __atomic_store_n(&clock_error, code, __ATOMIC_RELAXED);
    return code;
}

/* A time of 0 says that there is none. */
static void cupti_convert_times(struct activity_record *r, uint64_t now) {
    if (r->start && r->end) {
        struct cupti_times t = {.start = r->start, .end = r->end};
        cupti_clock_convert(&clock_pairs, now, &t);
        r->start = u64_max(t.start, 1); /* as activity_clock, never 0 */
        r->end = u64_max(t.end, 1);
        r->shift = t.shift;
    }
}

/* ---- Buffers with records. */

/* CUPTI of CUDA 13.0 and 13.1 gives kernels of graphs the number of a launch in an earlier session
 * (NVIDIA's release notes of 13.1 Update 1; pytorch/kineto#1165): they would count in its scope. */
static void cupti_drop_old_number(struct activity_record *r) {
    if (r->in_graph && activity_launch_is_old(r->correlation)) {
        r->correlation = 0; /* unknown */
        __atomic_store_n(&had_old_numbers, 1, __ATOMIC_RELAXED);
    }
}

int cupti_callbacks_had_old_numbers(void) {
    return __atomic_load_n(&had_old_numbers, __ATOMIC_RELAXED);
}

static void cupti_add_batch(struct activity_record *batch, unsigned count) {
    uint64_t added = 0;
    activity_begin();
    uint64_t now = activity_clock();
    for (unsigned i = 0; i < count; ++i) {
        if (!cupti_is_left_out(&batch[i])) {
            cupti_note_device(batch[i].device);
            cupti_convert_times(&batch[i], now);
            cupti_arrivals_note_record(batch[i].correlation);
            cupti_drop_old_number(&batch[i]);
            activity_add(&batch[i]);
            ++added;
        }
    }
    activity_end();
    __atomic_fetch_add(&records, added, __ATOMIC_RELAXED);
}

static void cupti_read_buffer(uint8_t *buffer, size_t size) {
    struct activity_record batch[BATCH];
    struct cupti_reader reader = {.cupti = functions, .buffer = buffer, .size = size};
    unsigned count;
    while ((count = cupti_read_records(&reader, batch, BATCH)) != 0) {
        cupti_add_batch(batch, count);
    }
    if (reader.broken) {
        arena_lose(STINT_STATUS_ACTIVITY_BAD, 1);
    }
}

void cupti_on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                       size_t valid) {
    ERRNO_KEEP;
    uint64_t begun = clock_ticks();
    size_t dropped = 0;
    (void)context;
    (void)stream;
    cupti_arrivals_take_buffer(size);
    if (!cupti_is_forgotten()) {
        if (buffer && valid) {
            (void)cupti_refresh_clock(); /* after a failure the readings so far are used */
            cupti_read_buffer(buffer, u64_min(valid, size));
        }
        if (!cupti_scope_count_dropped(functions, &dropped) && dropped) {
            arena_lose(STINT_STATUS_ACTIVITY_DROPPED, dropped);
        }
    }
    cupti_put_buffer(buffer, size);
    cupti_add_ticks(begun, 1);
}

void cupti_on_request_scoped(uint8_t **buffer, size_t *size, size_t *max_records,
                             CUpti_BufferCallbackRequestInfo *info) {
    (void)info;
    cupti_on_request(buffer, size, max_records);
}

void cupti_on_complete_scoped(uint8_t *buffer, size_t size, size_t valid,
                              CUpti_BufferCallbackCompleteInfo *info) {
    (void)info;
    cupti_on_complete(NULL, 0, buffer, size, valid);
}

/* ---- For the session. */

void cupti_callbacks_use(const struct cupti *library, uint32_t number) {
    functions = library;
    __atomic_store_n(&loaded_version, number, __ATOMIC_RELAXED);
}

void cupti_callbacks_at_launch(void (*at_launch)(void)) {
    __atomic_store_n(&launched, at_launch, __ATOMIC_RELEASE);
}

void cupti_callbacks_forget(void) {
    __atomic_store_n(&forgotten, 1, __ATOMIC_RELAXED);
}

uint64_t cupti_callbacks_get_devices(void) {
    return __atomic_load_n(&devices, __ATOMIC_RELAXED);
}

void cupti_callbacks_sum(struct cupti_callback_sums *out) {
    out->records = __atomic_load_n(&records, __ATOMIC_RELAXED);
    out->ticks = __atomic_load_n(&ticks, __ATOMIC_RELAXED);
    out->clock_jumps = __atomic_load_n(&clock_pairs.jumps, __ATOMIC_RELAXED);
    out->clock_drift_ppm = __atomic_load_n(&clock_pairs.drift_ppm, __ATOMIC_RELAXED);
    out->clock_error = __atomic_load_n(&clock_error, __ATOMIC_RELAXED);
}
