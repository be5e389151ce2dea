/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI as a tracer (struct tracer_ops): subscribes, switches kinds of records and callbacks on,
 * and hands completed buffers over to activity.h.
 *
 * Implementation notes
 * - Subscribing comes first: only it fails if another tool uses CUPTI.
 * - CUPTI's own clock is converted (cupti_clock.c). A clock of the caller's
 *   (cuptiActivityRegisterTimestampCallback) is not used: registered again for a later session it
 *   leaves the first kernels on the default clock, CUPTI of CUDA 12.6 Update 2 to 13.0 then reports
 *   kernels with time 0 (release notes of CUDA 13.1), and contexts older than the subscription keep
 *   the default clock.
 * - Kernels are recorded by the kind that lets them run concurrently; the other one serialises
 * them.
 * - CUPTI makes the record of a wait for a query (cudaEventQuery, and stint's own). Which calls
 * were queries is noted in their callbacks, and such records are left out.
 * - Functions of the driver are never called in a callback of CUPTI: devices that were seen are
 *   described by the next flush.
 * - Buffers per thread, the default of CUDA 13.0, are switched off: a thread that launches rarely
 *   would keep its records until the time line has long passed them. Where that fails, buffers are
 *   flushed when steps of the program end.
 * - Late buffers are read like others. The library is never unloaded.
 */
#include "cupti_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "activity/activity.h"
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/errno_keep.h"
#include "base/lock.h"
#include "cupti_private.h"
#include "gpu/gpu.h"

/* From this version on; before CUDA 12.9 CUPTI writes into the buffer without a check for NULL. */
#define REFUSING_IS_SAFE 27
#define BATCH 16 /* records read, then added in one go: 2 KiB of stack */
#define QUERIES 4096u
#define OWN_CALLS 256u
#define PER_THREAD_SINCE 21u       /* CUDA 12.3: there may be buffers per thread */
#define PER_THREAD_DEFAULT 130000u /* there are */
#define FLUSH_NS 100000000u        /* between flushes because of them */
#define DEVICES 64u
#define TIMED 16u
#define READINGS 8 /* of the clock, until one is as precise as this */
#define PRECISE_NS 1000u
#define DRIFT_SAID 500u /* millionths: 0.5 ms per second */
/* A bit of `missing`: the scopes of launches are not known. */
#define CUPTI_NO_SCOPES (1u << CUPTI_KINDS)

enum library_state { LIBRARY_NEW, LIBRARY_LOADED, LIBRARY_BAD };

/* Written by the thread that opens the session, before it subscribes. */
static enum library_state library;
static char library_reason[CUPTI_REASON];
static struct cupti_search search;
static struct cupti cupti;
static uint32_t version;
static size_t strides[CUPTI_KINDS];
static CUpti_SubscriberHandle subscriber; /* NULL: not subscribed */
static uint32_t kinds_on;                 /* a bit each */
static void (*launched)(void);

/* Any thread, relaxed. */
static int forgotten;
static int has_launched;
static uint64_t records, ticks;
static uint32_t missing;
static int flush_error;
static uint64_t devices; /* seen, a bit each */
static uint64_t devices_described;
static uint32_t queries[QUERIES];     /* correlations, each at itself modulo */
static uint32_t own_calls[OWN_CALLS]; /* likewise */
static int clock_error;
static int wait_error; /* of the GPU's back end */
static int has_thread_buffers;
static uint64_t flushed_at; /* by a step; ticks */

static struct cupti_clock clock_pairs; /* under the activity lock, while that was taken once */

/* ---- Callbacks of CUPTI. Each keeps errno, as it is called within calls of the program. */

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

static void cupti_leave_launch(void) {
    if (!__atomic_load_n(&has_launched, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&has_launched, 1, __ATOMIC_RELAXED)) {
        __atomic_load_n(&launched, __ATOMIC_ACQUIRE)();
    }
}

static void cupti_on_enter(const struct cupti_callback *call, unsigned use) {
    if (use & (CUPTI_USE_LAUNCH | CUPTI_USE_QUERY)) {
        cupti_contexts_note(call->context);
        cupti_enter_call_timed(call->correlationId, use);
    }
    if (use & CUPTI_USE_CONTEXT_END) {
        cupti_contexts_forget();
    }
}

static void cupti_on_exit(const struct cupti_callback *call, unsigned use) {
    int code = CUPTI_OK; /* the driver's */
    if (call->functionReturnValue) {
        memcpy(&code, (const void *)(uintptr_t)call->functionReturnValue, sizeof code);
    }
    if (use & CUPTI_USE_LAUNCH) {
        cupti_leave_launch();
    }
    if (use & CUPTI_USE_CAPTURE && !code) {
        cupti_contexts_capture(1);
    }
    if (use & CUPTI_USE_CAPTURE_END) {
        cupti_contexts_capture(-1);
    }
}

static void cupti_on_api(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                         const void *data) {
    ERRNO_KEEP;
    const struct cupti_callback *call = data;
    (void)user;
    if (cupti_is_forgotten()) {
        return;
    }
    unsigned use = cupti_get_use(domain, cbid);
    if (lock_inside(LOCK_TRACER)) { /* stint's own: cupti_flush waits */
        __atomic_store_n(&own_calls[call->correlationId % OWN_CALLS], call->correlationId,
                         __ATOMIC_RELAXED);
    } else if (call->callbackSite == CUPTI_API_ENTER) {
        cupti_on_enter(call, use);
    } else {
        cupti_on_exit(call, use);
    }
}

static void cupti_on_request(uint8_t **buffer, size_t *size, size_t *max_records) {
    ERRNO_KEEP;
    uint64_t begun = clock_ticks();
    *buffer =
        cupti_get_buffer(size, __atomic_load_n(&version, __ATOMIC_RELAXED) < REFUSING_IS_SAFE);
    *max_records = 0; /* as many as fit */
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
        code = cupti.cuptiGetTimestamp(&r.theirs);
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

/* Returns CUPTI's code. In a signal handler that interrupted the use of the clock: no effect. */
static int cupti_refresh_clock(void) {
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
        cupti_clock_convert(&clock_pairs, now, &r->start, &r->end);
        r->start = u64_max(r->start, 1); /* as activity_clock, never 0 */
        r->end = u64_max(r->end, 1);
    }
}

/* ---- */

static void cupti_add_batch(struct activity_record *batch, unsigned count) {
    uint64_t added = 0;
    activity_begin();
    uint64_t now = activity_clock();
    for (unsigned i = 0; i < count; ++i) {
        if (!cupti_is_left_out(&batch[i])) {
            cupti_note_device(batch[i].device);
            cupti_convert_times(&batch[i], now);
            activity_add(&batch[i]);
            ++added;
        }
    }
    activity_end();
    __atomic_fetch_add(&records, added, __ATOMIC_RELAXED);
}

static void cupti_read_buffer(uint8_t *buffer, size_t size) {
    struct activity_record batch[BATCH];
    struct cupti_reader reader = {.cupti = &cupti, .buffer = buffer, .size = size};
    unsigned count;
    while ((count = cupti_read_records(&reader, batch, BATCH)) != 0) {
        cupti_add_batch(batch, count);
    }
    if (reader.broken) {
        arena_lose(STINT_STATUS_ACTIVITY_BAD, 1);
    }
}

static void cupti_on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                              size_t valid) {
    ERRNO_KEEP;
    uint64_t begun = clock_ticks();
    size_t dropped = 0;
    (void)context;
    (void)stream;
    if (!cupti_is_forgotten()) {
        if (buffer && valid) {
            (void)cupti_refresh_clock(); /* after a failure the readings so far are used */
            cupti_read_buffer(buffer, u64_min(valid, size));
        }
        if (!cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) && dropped) {
            arena_lose(STINT_STATUS_ACTIVITY_DROPPED, dropped);
        }
    }
    cupti_put_buffer(buffer, size);
    cupti_add_ticks(begun, 1);
}

/* ---- Opening */

/* Codes of all calls where the driver cannot be used: which one depends on CUPTI's version. */
static int cupti_is_without_driver(int code) {
    return code == CUPTI_NOT_INITIALIZED || code == CUPTI_UNKNOWN;
}

static int cupti_fail(char reason[CUPTI_REASON], const char *function, int code) {
    char words[CUPTI_REASON];
    const char *rest = "";
    if (cupti_is_without_driver(code)) {
        const struct gpu_ops *gpu = gpu_ops();
        struct gpu_device device = {0};
        if (gpu->reason) {
            snprintf(reason, CUPTI_REASON, "%s", gpu->reason);
            return -1;
        }
        if (gpu_device(gpu, 0, &device) != GPU_OK) {
            rest = "; the CUDA driver has no device or is not initialised";
        }
    }
    cupti_describe_code(&cupti, code, words, sizeof words);
    snprintf(reason, CUPTI_REASON, "%s: %.150s%s", function, words, rest);
    return -1;
}

static void cupti_use_library(const struct cupti *functions, uint32_t number) {
    cupti = *functions;
    __atomic_store_n(&version, number, __ATOMIC_RELAXED); /* reports read it meanwhile */
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        strides[i] = cupti_measure_record(&cupti, cupti_kind_table[i].kind);
    }
}

static void cupti_load_first(void) {
    struct cupti functions = {0};
    uint32_t number = 0;
    int bad;
    if (config.cupti_lib) {
        bad = cupti_load_library(config.cupti_lib, &functions, &number, library_reason);
    } else {
        bad = cupti_load_next(&search, &functions, &number, library_reason);
    }
    if (bad) {
        library = LIBRARY_BAD;
        return;
    }
    cupti_use_library(&functions, number);
    library = LIBRARY_LOADED;
}

static int cupti_load(char reason[CUPTI_REASON]) {
    if (library == LIBRARY_NEW) {
        cupti_load_first();
    }
    if (library == LIBRARY_BAD) {
        snprintf(reason, CUPTI_REASON, "%s", library_reason);
        return -1;
    }
    if (strides[0] < cupti_kind_table[0].min_bytes) {
        snprintf(reason, CUPTI_REASON, "this CUPTI's kernel records, of %zu bytes, are not known",
                 strides[0]);
        return -1;
    }
    return 0;
}

/* Whether an older CUPTI may succeed where this one failed with that code. */
static int cupti_may_other_succeed(int code) {
    if (config.cupti_lib || gpu_ops()->reason) {
        return 0;
    }
    return code == CUPTI_NOT_COMPATIBLE || cupti_is_without_driver(code);
}

/* The names are those of the library that is used: read again only if it is another one. */
static void cupti_keep_names(void) {
    static int (*names_of)(int, uint32_t, const char **);
    if (names_of != cupti.cuptiGetCallbackName) {
        names_of = cupti.cuptiGetCallbackName;
        cupti_read_names(&cupti);
    }
}

/* If the library does not accept the driver, the other installed ones are tried; once, as this
 * takes time. If none accepts it, the first is used again, and the code is the first one's. */
static int cupti_subscribe(void) {
    const struct cupti first = cupti;
    uint32_t first_version = version;
    int first_code = cupti.cuptiSubscribe(&subscriber, cupti_on_api, NULL);
    int code = first_code;
    while (code && cupti_may_other_succeed(code)) {
        struct cupti functions = {0};
        uint32_t number = 0;
        char reason[CUPTI_REASON];
        if (cupti_load_next(&search, &functions, &number, reason)) {
            break;
        }
        cupti_use_library(&functions, number);
        if (strides[0] >= cupti_kind_table[0].min_bytes) {
            code = cupti.cuptiSubscribe(&subscriber, cupti_on_api, NULL);
        }
    }
    if (code) {
        subscriber = NULL;
        if (cupti.cuptiSubscribe != first.cuptiSubscribe) {
            cupti_use_library(&first, first_version);
        }
        return first_code;
    }
    cupti_keep_names();
    return CUPTI_OK;
}

/* Callbacks are enabled function by function, as they cost time. Returns what is missing without
 * them. */
static uint32_t cupti_enable_callbacks(void) {
    static const int domains[] = {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API};
    unsigned on = 0;
    for (unsigned d = 0; d < 2; ++d) {
        for (uint32_t i = 1; i < cupti_get_names_end(domains[d]); ++i) {
            if (cupti_get_use(domains[d], i) & CUPTI_USE_CALLBACK) {
                on += !cupti.cuptiEnableCallback(1, subscriber, domains[d], i);
            }
        }
    }
    if (!on) {
        return CUPTI_NO_SCOPES;
    }
    return 0;
}

/* Reduces the records where the library can leave out single functions; cupti_read_records skips
 * theirs in any case. */
static void cupti_disable_unrecorded(int domain, CUptiResult (*enable)(CUpti_CallbackId, uint8_t)) {
    for (uint32_t i = 1; enable && i < cupti_get_names_end(domain); ++i) {
        if (cupti_get_name(domain, i) && !(cupti_get_use(domain, i) & CUPTI_USE_RECORD)) {
            enable(i, 0);
        }
    }
}

/* Unified memory is traced on request, and then has to be configured. Codes of CUPTI. */
static int cupti_configure_unified(void) {
    struct cupti_unified_config counters[ACTIVITY_UNIFIED_DTOD];
    for (uint32_t i = 0; i < ACTIVITY_UNIFIED_DTOD; ++i) {
        counters[i] = (struct cupti_unified_config){
            .scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
            .kind = i + 1,
            .enable = 1};
    }
    if (!cupti.cuptiActivityConfigureUnifiedMemoryCounter) {
        return CUPTI_INVALID_KIND;
    }
    return cupti.cuptiActivityConfigureUnifiedMemoryCounter(counters, ACTIVITY_UNIFIED_DTOD);
}

static int cupti_wants_kind(int kind) {
    return kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER ||
           config.gpu == CONFIG_GPU_TRACER_ALL;
}

static int cupti_enable_kind(int kind) {
    int code = CUPTI_OK;
    if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) {
        code = cupti_configure_unified();
    }
    if (!code) {
        code = cupti.cuptiActivityEnable(kind);
    }
    return code;
}

/* Returns the first kind's code: without kernels the session is of no use. lacks: what is
 * missing. */
static int cupti_enable_kinds(uint32_t lacks) {
    uint32_t on = 0;
    int first = 0;
    for (int i = 0; i < CUPTI_KINDS && !first; ++i) {
        const struct cupti_kind *k = &cupti_kind_table[i];
        int code = CUPTI_INVALID_KIND;
        if (!cupti_wants_kind(k->kind)) {
            continue;
        }
        if (strides[i] >= k->min_bytes) {
            code = cupti_enable_kind(k->kind);
        }
        if (!code) {
            on |= 1u << i;
        } else {
            lacks |= 1u << i;
        }
        if (code && i == 0) {
            first = code;
        }
    }
    kinds_on = on;
    __atomic_store_n(&missing, lacks, __ATOMIC_RELAXED);
    return first;
}

static void cupti_disable_kinds(void) {
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        if (kinds_on >> i & 1) {
            cupti.cuptiActivityDisable(cupti_kind_table[i].kind);
        }
    }
    kinds_on = 0;
}

static void cupti_disable_thread_buffers(void) {
    uint8_t off = 0;
    size_t size = sizeof off;
    int failed = 1;
    if (version >= PER_THREAD_SINCE && cupti.cuptiActivitySetAttribute) {
        failed = cupti.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
                                                 &size, &off);
    }
    __atomic_store_n(&has_thread_buffers, failed && version >= PER_THREAD_DEFAULT,
                     __ATOMIC_RELAXED);
}

/* By default a thread's number is the lower half of pthread_self(), which threads may share. */
static void cupti_number_threads(void) {
    if (cupti.cuptiSetThreadIdType) {
        cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    }
}

/* Only before the library's first session: to change the buffers "in the middle of the profiling
 * session will result in undefined behavior", and threads would change their numbers
 * (cupti_activity.h of CUDA 13.0). */
static void cupti_configure(void) {
    static int (*done_for)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
    if (done_for != cupti.cuptiActivityRegisterCallbacks) {
        done_for = cupti.cuptiActivityRegisterCallbacks;
        cupti_disable_thread_buffers();
        cupti_number_threads();
    }
}

/* After subscribing. 0, or -1 with the reason. */
static int cupti_switch_on(char reason[CUPTI_REASON]) {
    cupti_configure();
    int code = cupti_refresh_clock();
    if (code) {
        return cupti_fail(reason, "cuptiGetTimestamp", code);
    }
    code = cupti.cuptiActivityRegisterCallbacks(cupti_on_request, cupti_on_complete);
    if (code) {
        return cupti_fail(reason, "cuptiActivityRegisterCallbacks", code);
    }
    code = cupti_enable_kinds(cupti_enable_callbacks());
    if (code) {
        return cupti_fail(reason, "cuptiActivityEnable", code);
    }
    cupti_disable_unrecorded(CUPTI_CB_DOMAIN_RUNTIME_API, cupti.cuptiActivityEnableRuntimeApi);
    cupti_disable_unrecorded(CUPTI_CB_DOMAIN_DRIVER_API, cupti.cuptiActivityEnableDriverApi);
    if (cupti.cuptiActivityEnableAllSyncRecords) {
        cupti.cuptiActivityEnableAllSyncRecords(0); /* fewer records of queries */
    }
    return 0;
}

/* After a failure the session stays subscribed. */
static void cupti_unsubscribe(void) {
    if (!cupti.cuptiUnsubscribe(subscriber)) {
        subscriber = NULL;
    }
}

/* cuptiSubscribe initialises CUDA: with libcupti 12.4 and 13.0 over libcuda 550 it opens
 * /dev/nvidiactl as often as cuInit does. Every call of the driver returns "not initialised" until
 * the program has called cuInit. Not in a signal handler, as opening loads a library. */
static int cupti_is_ready(void) {
    struct gpu_context context;
    if (gpu_thread_blocks_signal()) {
        return 0;
    }
    const struct gpu_ops *gpu = gpu_ops();
    return gpu->reason || gpu->context(NULL, &context) != GPU_NOT_INITIALIZED;
}

static int cupti_open(char reason[CUPTI_REASON], void (*at_launch)(void)) {
    if (cupti_load(reason)) {
        return -1;
    }
    if (activity_open() || cupti_open_buffers()) {
        snprintf(reason, CUPTI_REASON, "no memory for them");
        return -1;
    }
    __atomic_store_n(&launched, at_launch, __ATOMIC_RELEASE);
    int code = CUPTI_OK;
    if (!subscriber) {
        code = cupti_subscribe();
    }
    if (code) {
        activity_pause();
        return cupti_fail(reason, "cuptiSubscribe", code);
    }
    int result = cupti_switch_on(reason);
    if (result) {
        cupti_unsubscribe();
        activity_pause();
    }
    return result;
}

/* ---- Flushing and closing */

static void cupti_describe_device(const struct gpu_ops *gpu, uint32_t number) {
    struct gpu_device d = {0};
    activity_begin();
    int known = activity_knows_device(number);
    activity_end();
    if (!known && !gpu->reason && gpu_device(gpu, (int)number, &d) == GPU_OK) {
        activity_begin();
        activity_device(number, &d);
        activity_end();
    }
}

static void cupti_describe_devices(void) {
    uint64_t seen = __atomic_load_n(&devices, __ATOMIC_RELAXED);
    uint64_t before = __atomic_fetch_or(&devices_described, seen, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < DEVICES; ++i) {
        if ((seen & ~before) >> i & 1) {
            cupti_describe_device(gpu_ops(), i);
        }
    }
}

static void cupti_flush(int how) {
    uint32_t flags = 0;
    if (how == TRACER_FORCED) {
        flags = CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
    }
    if (how == TRACER_WAIT) {
        __atomic_store_n(&wait_error, cupti_contexts_wait(), __ATOMIC_RELAXED);
    }
    int code = cupti.cuptiActivityFlushAll(flags);
    __atomic_store_n(&flush_error, code, __ATOMIC_RELEASE);
    cupti_describe_devices();
    activity_settle(); /* for the report that follows; work that still runs becomes late records */
}

/* Without settling: of what the buffers hold, the time line may still be open. */
static void cupti_step(void) {
    uint64_t now = clock_ticks();
    uint64_t before = __atomic_load_n(&flushed_at, __ATOMIC_RELAXED);
    if (!__atomic_load_n(&has_thread_buffers, __ATOMIC_RELAXED) ||
        now - before < clock_ticks_of_ns(FLUSH_NS)) {
        return;
    }
    if (__atomic_compare_exchange_n(&flushed_at, &before, now, 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        int code = cupti.cuptiActivityFlushAll(0);
        __atomic_store_n(&flush_error, code, __ATOMIC_RELEASE);
    }
}

static void cupti_close(int how) {
    cupti_disable_kinds();
    cupti_flush(how);
    cupti_unsubscribe();
    cupti_contexts_forget(); /* their end is not seen any more */
    activity_pause();
}

static int cupti_is_library_used(void) {
    return library == LIBRARY_LOADED;
}

static void cupti_forget(void) {
    __atomic_store_n(&forgotten, 1, __ATOMIC_RELAXED);
}

/* ---- In words */

/* As words to append; each function returns the bytes used so far, of which there may be more than
 * there is room for. */
static size_t cupti_put_error(const char *what, int error, char *out, size_t size, size_t n) {
    char words[CUPTI_REASON];
    if (!error || n >= size) {
        return n;
    }
    cupti_describe_code(&cupti, error, words, sizeof words);
    return n + (size_t)snprintf(out + n, size - n, ", %s fails: %.150s", what, words);
}

static size_t cupti_put_wait(char *out, size_t size, size_t n) {
    int code = __atomic_load_n(&wait_error, __ATOMIC_RELAXED);
    if (!code || n >= size) {
        return n;
    }
    return n + (size_t)snprintf(out + n, size - n, ", waiting for the GPU fails: %.100s",
                                gpu_code_name(code));
}

static size_t cupti_put_clock(char *out, size_t size, size_t n) {
    uint32_t jumps = __atomic_load_n(&clock_pairs.jumps, __ATOMIC_RELAXED);
    uint32_t ppm = __atomic_load_n(&clock_pairs.drift_ppm, __ATOMIC_RELAXED);
    if (jumps && n < size) {
        n += (size_t)snprintf(out + n, size - n, ", its clock was set %" PRIu32 " %s", jumps,
                              jumps == 1 ? "time" : "times");
    }
    if (ppm >= DRIFT_SAID && n < size) {
        n +=
            (size_t)snprintf(out + n, size - n, ", its clock drifts by up to %" PRIu32 " ppm", ppm);
    }
    return n;
}

/* Kinds that are missing, what its clock did, and errors; "" if none. */
static void cupti_put_complaints(uint32_t missing_kinds, int error, char *out, size_t size) {
    size_t n = 0;
    const char *before = ", without ";
    out[0] = '\0';
    for (int i = 0; i <= CUPTI_KINDS && n < size; ++i) {
        if (missing_kinds >> i & 1) {
            const char *what = i < CUPTI_KINDS ? cupti_kind_table[i].words : "scopes";
            n += (size_t)snprintf(out + n, size - n, "%s%s", before, what);
            before = ", ";
        }
    }
    n = cupti_put_clock(out, size, n);
    n = cupti_put_error("flushing", error, out, size, n);
    n = cupti_put_wait(out, size, n);
    cupti_put_error("reading its clock", __atomic_load_n(&clock_error, __ATOMIC_RELAXED), out, size,
                    n);
}

static void cupti_read_sums(struct tracer_sums *out) {
    memset(out, 0, sizeof *out);
    out->records = __atomic_load_n(&records, __ATOMIC_RELAXED);
    out->ticks = __atomic_load_n(&ticks, __ATOMIC_RELAXED);
    cupti_describe_toolkit(__atomic_load_n(&version, __ATOMIC_RELAXED), out->version,
                           sizeof out->version);
    cupti_put_complaints(__atomic_load_n(&missing, __ATOMIC_RELAXED),
                         __atomic_load_n(&flush_error, __ATOMIC_ACQUIRE), out->complaints,
                         sizeof out->complaints);
}

const struct tracer_ops cupti_tracer = {
    .name = "cupti",
    .is_ready = cupti_is_ready,
    .open = cupti_open,
    .close = cupti_close,
    .flush = cupti_flush,
    .step = cupti_step,
    .is_used = cupti_is_library_used,
    .forget = cupti_forget,
    .sums = cupti_read_sums,
};
