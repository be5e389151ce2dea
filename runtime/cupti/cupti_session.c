/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI as a tracer (struct tracer_ops): the life of a session, from the choice of a library over
 * subscribing and switching kinds of records and callbacks on to the flush at its end. The
 * functions that CUPTI calls are in cupti_callbacks.c, the words of messages in cupti_words.c.
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
 * - Functions of the driver are never called in a callback of CUPTI: devices that were seen are
 *   described by the next flush.
 * - Buffers per thread, the default of CUDA 13.0, are switched off: a thread that launches rarely
 *   would keep its records until the time line has long passed them. Where that fails, buffers are
 *   flushed when steps of the program end.
 * - Late buffers are read like others. The library is never unloaded.
 */
#include "cupti_session.h"

#include <stdio.h>
#include <string.h>

#include "activity/activity.h"
#include "base/arithmetic.h"
#include "cupti_private.h"
#include "gpu/cuda_codes.h"
#include "gpu/gpu.h"
#include "system/calm.h"
#include "system/clock.h"
#include "system/config.h"
#include "system/log.h"

#define PER_THREAD_SINCE 21u       /* CUDA 12.3: there may be buffers per thread */
#define PER_THREAD_DEFAULT 130000u /* there are */
#define FLUSH_NS 100000000u        /* between flushes because of them */
#define DEVICES 64u

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

/* Any thread, relaxed. */
static uint32_t missing;
static int flush_error;
static uint64_t devices_described; /* a bit each */
static int wait_error;             /* of the GPU's back end */
static int has_thread_buffers;
static uint64_t flushed_at; /* by a step; ticks */

/* ---- Opening */

static int cupti_fail(char reason[CUPTI_REASON], const char *function, int code) {
    cupti_describe_failure(&cupti, version, function, code, reason);
    return -1;
}

static void cupti_measure_records(void) {
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        strides[i] = cupti_measure_record(&cupti, cupti_kind_table[i].kind);
    }
}

/* Where there are functions per subscriber, records are measured once it is known whether they are
 * used: a call of a global function may exclude them. */
static void cupti_use_library(const struct cupti *functions, uint32_t number) {
    cupti = *functions;
    __atomic_store_n(&version, number, __ATOMIC_RELAXED); /* reports may read it now */
    cupti_callbacks_use(&cupti, number);
    if (!cupti_scope_is_available(&cupti, version)) {
        cupti_measure_records();
    }
}

static void cupti_load_first(void) {
    struct cupti functions = {0};
    uint32_t number = 0;
    int bad;
    if (config.tracer_lib) {
        bad = cupti_load_library(config.tracer_lib, &functions, &number, library_reason);
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

static int cupti_check_records(char reason[CUPTI_REASON]) {
    if (strides[0] < cupti_kind_table[0].min_bytes) {
        snprintf(reason, CUPTI_REASON, "this CUPTI's kernel records, of %zu bytes, are not known",
                 strides[0]);
        return -1;
    }
    return 0;
}

static int cupti_load(char reason[CUPTI_REASON]) {
    if (library == LIBRARY_NEW) {
        cupti_load_first();
    }
    if (library == LIBRARY_BAD) {
        snprintf(reason, CUPTI_REASON, "%s", library_reason);
        return -1;
    }
    if (!cupti_scope_is_available(&cupti, version)) {
        return cupti_check_records(reason);
    }
    return 0;
}

/* Whether an older CUPTI may succeed where this one failed with that code. */
static int cupti_may_other_succeed(int code) {
    if (config.tracer_lib || cupti_gpu()->reason || cupti_is_excluded(version, code)) {
        return 0;
    }
    return code == CUPTI_NOT_COMPATIBLE || cupti_is_without_driver(code);
}

/* The names are of the library that is used, and are read again only if it is another one. */
static void cupti_keep_names(void) {
    static int (*names_of)(int, uint32_t, const char **);
    if (names_of != cupti.cuptiGetCallbackName) {
        names_of = cupti.cuptiGetCallbackName;
        cupti_read_names(&cupti);
    }
}

/* With the functions per subscriber, or where they fail with the global ones, whose code counts. */
static int cupti_subscribe_to_library(void) {
    if (!cupti_scope_is_available(&cupti, version)) {
        return cupti.cuptiSubscribe(&subscriber, cupti_on_api, NULL);
    }
    int code = cupti_scope_subscribe(&cupti, &subscriber);
    if (code) {
        code = cupti.cuptiSubscribe(&subscriber, cupti_on_api, NULL);
    }
    if (!code) {
        cupti_measure_records();
    }
    return code;
}

/* If the library does not accept the driver, the other installed ones are tried; once, as this
 * takes time. If none accepts it, the first is used again, and the code is the first one's. */
static int cupti_subscribe(void) {
    const struct cupti first = cupti;
    uint32_t first_version = version;
    int first_code = cupti_subscribe_to_library();
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
            code = cupti_subscribe_to_library();
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
    if (!cupti.cuptiActivityConfigureUnifiedMemoryCounter || cupti_scope_is_used()) {
        return CUPTI_INVALID_KIND;
    }
    return cupti.cuptiActivityConfigureUnifiedMemoryCounter(counters, ACTIVITY_UNIFIED_DTOD);
}

static int cupti_wants_kind(const struct cupti_kind *k) {
    int asked = k->kind != CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER ||
                config.gpu == CONFIG_GPU_TRACER_ALL;
    return asked && version >= k->since;
}

static int cupti_enable_kind(int kind) {
    int code = CUPTI_OK;
    if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) {
        code = cupti_configure_unified();
    }
    if (!code) {
        code = cupti_scope_enable(&cupti, kind);
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
        if (!cupti_wants_kind(k)) {
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

/* The bytes of the smallest record of a call, of the runtime or the driver. 0: not every call has
 * one. */
static size_t cupti_measure_calls(void) {
    uint32_t found = 0;
    size_t bytes = SIZE_MAX;
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        int kind = cupti_kind_table[i].kind;
        if (kind == CUPTI_ACTIVITY_KIND_RUNTIME || kind == CUPTI_ACTIVITY_KIND_DRIVER) {
            found += kinds_on >> i & 1;
            bytes = u64_min(bytes, strides[i]);
        }
    }
    return found == 2 ? bytes : 0;
}

static void cupti_disable_kinds(void) {
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        if (kinds_on >> i & 1) {
            cupti_scope_disable(&cupti, cupti_kind_table[i].kind);
        }
    }
    kinds_on = 0;
}

static void cupti_disable_thread_buffers(void) {
    uint8_t off = 0;
    size_t size = sizeof off;
    int failed = 1;
    if (version >= PER_THREAD_SINCE) {
        failed = cupti_scope_set_attribute(&cupti, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
                                           &size, &off);
    }
    __atomic_store_n(&has_thread_buffers, failed && version >= PER_THREAD_DEFAULT,
                     __ATOMIC_RELAXED);
}

/* By default a thread's number is the lower half of pthread_self(), which threads may share. */
static void cupti_number_threads(void) {
    if (cupti.cuptiSetThreadIdType && !cupti_scope_is_used()) {
        cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    }
}

/* Only before the library's first session: to change the buffers "in the middle of the profiling
 * session will result in undefined behavior", and threads would change their numbers
 * (cupti_activity.h of CUDA 13.0). */
static void cupti_configure(void) {
    static int (*done_for)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
    if (cupti_scope_is_used()) { /* attributes belong to the subscriber, which is new */
        cupti_disable_thread_buffers();
    } else if (done_for != cupti.cuptiActivityRegisterCallbacks) {
        done_for = cupti.cuptiActivityRegisterCallbacks;
        cupti_disable_thread_buffers();
        cupti_number_threads();
    }
}

static void cupti_reduce_records(void) {
    cupti_disable_unrecorded(CUPTI_CB_DOMAIN_RUNTIME_API, cupti.cuptiActivityEnableRuntimeApi);
    cupti_disable_unrecorded(CUPTI_CB_DOMAIN_DRIVER_API, cupti.cuptiActivityEnableDriverApi);
    if (cupti.cuptiActivityEnableAllSyncRecords) {
        cupti.cuptiActivityEnableAllSyncRecords(0); /* fewer records of queries */
    }
}

/* Once, unless another client has taken the buffers since: no source says what becomes of the
 * buffer that CUPTI is filling when the same callbacks are registered again. A new subscriber has
 * new callbacks. */
static int cupti_register(void) {
    static uint64_t taken_then = UINT64_MAX;
    uint64_t taken = cupti_arrivals_count_taken();
    if (!cupti_scope_is_used() && taken == taken_then) {
        return CUPTI_OK;
    }
    int code = cupti_scope_register(&cupti);
    if (!code && !cupti_scope_is_used()) {
        taken_then = taken;
    }
    return code;
}

/* After subscribing. 0, or -1 with the reason. */
static int cupti_switch_on(char reason[CUPTI_REASON]) {
    cupti_configure();
    int code = cupti_refresh_clock();
    if (code) {
        return cupti_fail(reason, "cuptiGetTimestamp", code);
    }
    code = cupti_register();
    if (code) {
        return cupti_fail(reason, "cuptiActivityRegisterCallbacks", code);
    }
    code = cupti_enable_kinds(cupti_enable_callbacks());
    if (code) {
        cupti_scope_refuse(code);
        return cupti_fail(reason, "cuptiActivityEnable", code);
    }
    if (!cupti_scope_is_used()) {
        cupti_reduce_records();
    }
    size_t call_bytes = cupti_measure_calls();
    if (call_bytes) {
        cupti_arrivals_begin(call_bytes);
    }
    return 0;
}

/* After a failure the session stays subscribed. */
static void cupti_unsubscribe(void) {
    if (!cupti.cuptiUnsubscribe(subscriber)) {
        subscriber = NULL;
        cupti_scope_leave();
    }
}

/* cuptiSubscribe initialises CUDA: with libcupti 12.4 and 13.0 over libcuda 550 it opens
 * /dev/nvidiactl as often as cuInit does. Every call of the driver returns "not initialised" until
 * the program has called cuInit. Not in a signal handler, as opening loads a library. */
static int cupti_is_ready(void) {
    struct gpu_context context;
    if (calm_thread_blocks_signal()) {
        return 0;
    }
    const struct gpu_ops *gpu = cupti_gpu();
    return gpu->reason || gpu->context(NULL, &context) != GPU_NOT_INITIALIZED;
}

/* 0, or -1 with the reason, and nothing is on. */
static int cupti_begin_session(char reason[CUPTI_REASON]) {
    int code = CUPTI_OK;
    if (!subscriber) {
        code = cupti_subscribe();
    }
    if (code) {
        return cupti_fail(reason, "cuptiSubscribe", code);
    }
    if (cupti_check_records(reason) || cupti_switch_on(reason)) {
        cupti_unsubscribe();
        return -1;
    }
    return 0;
}

/* Where the functions per subscriber turn out not to work, the global ones are used. */
static int cupti_open(char reason[CUPTI_REASON], void (*at_launch)(void)) {
    if (cupti_load(reason)) {
        return -1;
    }
    if (activity_open() || cupti_open_buffers()) {
        snprintf(reason, CUPTI_REASON, "no memory for them");
        return -1;
    }
    cupti_callbacks_at_launch(at_launch);
    int was_refused = cupti_scope_is_refused();
    int result = cupti_begin_session(reason);
    if (result && !was_refused && cupti_scope_is_refused()) {
        cupti_measure_records();
        result = cupti_begin_session(reason);
    }
    if (result) {
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
    uint64_t seen = cupti_callbacks_get_devices();
    uint64_t before = __atomic_fetch_or(&devices_described, seen, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < DEVICES; ++i) {
        if ((seen & ~before) >> i & 1) {
            cupti_describe_device(cupti_gpu(), i);
        }
    }
}

/* Waits for the work that runs. Returns whether all records of it are complete then, as far as no
 * thread launches more. */
static int cupti_wait(void) {
    int waited = 0, quiet = cupti_arrivals_are_quiet();
    __atomic_store_n(&wait_error, cupti_contexts_wait(&waited), __ATOMIC_RELAXED);
    return waited && quiet;
}

static void cupti_say_old_numbers(void) {
    static int was_said;
    if (cupti_callbacks_had_old_numbers() && !__atomic_exchange_n(&was_said, 1, __ATOMIC_RELAXED)) {
        log_warning("kernels of graphs are in no scope: this CUPTI numbers them as launches of an "
                    "earlier profile; that of CUDA 13.1 Update 1 does not");
    }
}

/* expected: records that are to come (cupti_arrivals_expect). If the flush returns every record,
 * and none of them, another client has them. */
static void cupti_flush_expecting(int how, uint64_t expected) {
    uint32_t flags = 0;
    int returns_all = 0;
    uint64_t launches = cupti_arrivals_count_launches();
    if (how == TRACER_FORCED) {
        flags = CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;
        returns_all = 1;
    }
    if (how == TRACER_WAIT) {
        returns_all = cupti_wait();
    }
    int code = cupti.cuptiActivityFlushAll(flags);
    if (!code && returns_all && cupti_arrivals_are_missing(expected)) {
        code = cupti.cuptiActivityFlushAll(flags); /* one may return nothing (pytorch/kineto#95) */
    }
    __atomic_store_n(&flush_error, code, __ATOMIC_RELEASE);
    if (!code && returns_all && launches == cupti_arrivals_count_launches()) {
        cupti_arrivals_judge(expected);
    }
    cupti_arrivals_say_taken();
    cupti_say_old_numbers();
    cupti_describe_devices();
    activity_settle(); /* for the report that follows; work that still runs becomes late records */
}

static void cupti_flush(int how) {
    cupti_flush_expecting(how, cupti_arrivals_expect());
}

/* Without settling: of what the buffers hold, the time line may still be open. */
static void cupti_step(void) {
    uint64_t now = clock_ticks();
    uint64_t before = __atomic_load_n(&flushed_at, __ATOMIC_RELAXED);
    cupti_arrivals_say_taken();
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
    uint64_t expected = cupti_arrivals_expect();
    cupti_arrivals_end();
    cupti_disable_kinds();
    cupti_flush_expecting(how, expected);
    cupti_unsubscribe();
    cupti_contexts_forget(); /* from now on their end is not seen, nor is the end of streams */
    cupti_streams_end_session();
    activity_pause();
}

static int cupti_is_library_used(void) {
    return library == LIBRARY_LOADED;
}

/* ---- For reports */

static void cupti_read_sums(struct tracer_sums *out) {
    struct cupti_callback_sums sums;
    cupti_callbacks_sum(&sums);
    const struct cupti_troubles troubles = {
        .version = __atomic_load_n(&version, __ATOMIC_RELAXED),
        .missing = __atomic_load_n(&missing, __ATOMIC_RELAXED),
        .flush_error = __atomic_load_n(&flush_error, __ATOMIC_ACQUIRE),
        .wait_error = __atomic_load_n(&wait_error, __ATOMIC_RELAXED),
        .taken = cupti_arrivals_count_taken(),
        .sums = &sums};
    memset(out, 0, sizeof *out);
    out->records = sums.records;
    out->ticks = sums.ticks;
    cupti_describe_toolkit(__atomic_load_n(&version, __ATOMIC_RELAXED), out->version,
                           sizeof out->version);
    cupti_put_complaints(&cupti, &troubles, out->complaints, sizeof out->complaints);
}

const struct tracer_ops cupti_tracer = {
    .name = "cupti",
    .words = &cuda_words,
    .prepare = cupti_prepare_injection,
    .is_ready = cupti_is_ready,
    .open = cupti_open,
    .close = cupti_close,
    .flush = cupti_flush,
    .step = cupti_step,
    .is_used = cupti_is_library_used,
    .forget = cupti_callbacks_forget,
    .sums = cupti_read_sums,
};
