/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - Subscribing comes first: it alone tells that another tool is there. The clock is registered
 *   before any kind is on, so that no record has another one's times.
 * - Kernels are those of the kind that lets them run at once; the other serialises them.
 * - A query (cudaEventQuery, and stint's own) makes the record of a wait. Which calls were queries
 *   is noted in their callbacks, and such records are left out.
 * - Functions of the driver are never called from within a callback of CUPTI's: devices that were
 *   seen are looked up when somebody flushes.
 * - Late buffers are read like others. The library is never unloaded.
 */
#include "cupti_session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "activity/activity.h"
#include "arena/arena.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/errno_keep.h"
#include "cupti_buffers.h"
#include "cupti_names.h"
#include "cupti_records.h"
#include "gpu/gpu.h"

#define REFUSING_IS_SAFE 27 /* before CUDA 12.9 CUPTI writes into the buffer it did not get */
#define BATCH 16            /* records read, then added in one go: 2 KiB of stack */
#define QUERIES 4096u
#define DEVICES 64u
#define TIMED 16u
#define CUPTI_NO_SCOPES                                                                            \
    (1u << CUPTI_KINDS) /* of `missing`: whose scope a launch was in is not known */

enum library_state { LIBRARY_NEW, LIBRARY_LOADED, LIBRARY_BAD };

/* Written by the thread that opens, before CUPTI knows of us. */
static enum library_state library;
static char library_reason[CUPTI_REASON];
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
static uint32_t queries[QUERIES]; /* correlations, each at itself modulo */

/* ---- What CUPTI calls. Each keeps errno: it stands between the program and its call. -----------*/

static void spent(uint64_t begun, uint64_t times) {
    __atomic_fetch_add(&ticks, (clock_ticks() - begun) * times, __ATOMIC_RELAXED);
}

static int is_forgotten(void) {
    return __atomic_load_n(&forgotten, __ATOMIC_RELAXED);
}

static void enter_call(uint32_t correlation, int launches) {
    if (launches) {
        activity_launch(correlation);
    } else {
        __atomic_store_n(&queries[correlation % QUERIES], correlation, __ATOMIC_RELAXED);
    }
}

/* To look at the clock takes longer than what there is to do: one in 16 calls stands for all. */
static void enter_call_timed(uint32_t correlation, int launches) {
    if (correlation % TIMED) {
        enter_call(correlation, launches);
    } else {
        uint64_t begun = clock_ticks();
        enter_call(correlation, launches);
        spent(begun, TIMED);
    }
}

static void on_launch_exit(void) {
    if (!__atomic_load_n(&has_launched, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&has_launched, 1, __ATOMIC_RELAXED)) {
        __atomic_load_n(&launched, __ATOMIC_ACQUIRE)();
    }
}

static void on_api(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                   const void *data) {
    ERRNO_KEEP;
    const struct cupti_callback *call = data;
    (void)user;
    if (is_forgotten()) {
        return;
    }
    int launches = (cupti_use(domain, cbid) & CUPTI_USE_LAUNCH) != 0;
    if (call->callbackSite == CUPTI_API_ENTER) {
        enter_call_timed(call->correlationId, launches);
    } else if (launches) {
        on_launch_exit();
    }
}

static void on_request(uint8_t **buffer, size_t *size, size_t *most) {
    ERRNO_KEEP;
    uint64_t begun = clock_ticks();
    *buffer =
        cupti_buffer_take(size, __atomic_load_n(&version, __ATOMIC_RELAXED) < REFUSING_IS_SAFE);
    *most = 0; /* as many as fit */
    spent(begun, 1);
}

static int is_query(const struct activity_record *r) {
    return r->kind == ACTIVITY_SYNC && r->correlation &&
           __atomic_load_n(&queries[r->correlation % QUERIES], __ATOMIC_RELAXED) == r->correlation;
}

static void see_device(uint32_t number) {
    uint64_t bit = number < DEVICES ? (uint64_t)1 << number : 0;
    if (bit & ~__atomic_load_n(&devices, __ATOMIC_RELAXED)) {
        __atomic_fetch_or(&devices, bit, __ATOMIC_RELAXED);
    }
}

static void add_batch(const struct activity_record *batch, unsigned count) {
    uint64_t added = 0;
    activity_begin();
    for (unsigned i = 0; i < count; ++i) {
        if (!is_query(&batch[i])) {
            see_device(batch[i].device);
            activity_add(&batch[i]);
            ++added;
        }
    }
    activity_end();
    __atomic_fetch_add(&records, added, __ATOMIC_RELAXED);
}

static void take_over(uint8_t *buffer, size_t size) {
    struct activity_record batch[BATCH];
    struct cupti_reader reader = {.cupti = &cupti, .buffer = buffer, .size = size};
    unsigned count;
    while ((count = cupti_records_read(&reader, batch, BATCH)) != 0) {
        add_batch(batch, count);
    }
    if (reader.broken) {
        arena_lose(STINT_STATUS_ACTIVITY_BAD, 1);
    }
}

static void on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t valid) {
    ERRNO_KEEP;
    uint64_t begun = clock_ticks();
    size_t dropped = 0;
    (void)context;
    (void)stream;
    if (!is_forgotten()) {
        if (buffer && valid) {
            take_over(buffer, valid < size ? valid : size);
        }
        if (!cupti.cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) && dropped) {
            arena_lose(STINT_STATUS_ACTIVITY_DROPPED, dropped);
        }
    }
    cupti_buffer_give(buffer, size);
    spent(begun, 1);
}

/* ---- Opening -----------------------------------------------------------------------------------*/

static int fail(char reason[CUPTI_REASON], const char *function, int code) {
    char words[CUPTI_REASON];
    const struct gpu_ops *gpu = code == CUPTI_UNKNOWN ? gpu_ops() : NULL;
    cupti_say_code(&cupti, code, words, sizeof words);
    if (gpu && gpu->reason) { /* what it answers to everything then */
        snprintf(reason, CUPTI_REASON, "%s", gpu->reason);
    } else {
        snprintf(reason, CUPTI_REASON, "%s: %.180s", function, words);
    }
    return -1;
}

static int load(char reason[CUPTI_REASON]) {
    if (library == LIBRARY_NEW) {
        uint32_t number = 0;
        int bad = cupti_load(config.cupti_lib, &cupti, &number, library_reason);
        __atomic_store_n(&version, number, __ATOMIC_RELAXED); /* reports read it meanwhile */
        library = bad ? LIBRARY_BAD : LIBRARY_LOADED;
        if (!bad) {
            cupti_names_read(&cupti);
            for (int i = 0; i < CUPTI_KINDS; ++i) {
                strides[i] = cupti_record_bytes(&cupti, cupti_kind_table[i].kind);
            }
        }
    }
    if (library == LIBRARY_BAD) {
        snprintf(reason, CUPTI_REASON, "%s", library_reason);
        return -1;
    }
    const struct cupti_kind *kernels = &cupti_kind_table[0];
    if (strides[0] < kernels->least) {
        snprintf(reason, CUPTI_REASON, "this CUPTI's kernel records, of %zu bytes, are not known",
                 strides[0]);
        return -1;
    }
    return 0;
}

/* Callbacks are asked for function by function: of the others we never hear. Returns what is
 * missing then. */
static uint32_t enable_callbacks(void) {
    static const int domains[] = {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API};
    unsigned on = 0;
    for (unsigned d = 0; d < 2; ++d) {
        for (uint32_t i = 1; i < cupti_names_end(domains[d]); ++i) {
            if (cupti_use(domains[d], i) & (CUPTI_USE_LAUNCH | CUPTI_USE_QUERY)) {
                on += !cupti.cuptiEnableCallback(1, subscriber, domains[d], i);
            }
        }
    }
    return on ? 0 : CUPTI_NO_SCOPES;
}

/* Where the library can leave single functions out; their records are left out in any case. */
static void disable_quiet(int domain, CUptiResult (*enable)(CUpti_CallbackId, uint8_t)) {
    for (uint32_t i = 1; enable && i < cupti_names_end(domain); ++i) {
        if (cupti_name(domain, i) && !(cupti_use(domain, i) & CUPTI_USE_RECORD)) {
            enable(i, 0);
        }
    }
}

/* Returns the first kind's code: without kernels there is no point. lacks: what is missing. */
static int enable_kinds(uint32_t lacks) {
    uint32_t on = 0;
    int first = 0;
    for (int i = 0; i < CUPTI_KINDS && !first; ++i) {
        const struct cupti_kind *k = &cupti_kind_table[i];
        int code = strides[i] < k->least ? CUPTI_INVALID_KIND : cupti.cuptiActivityEnable(k->kind);
        on |= code ? 0 : 1u << i;
        first = i ? 0 : code;
    }
    kinds_on = on;
    __atomic_store_n(&missing, lacks | (~on & (CUPTI_NO_SCOPES - 1)), __ATOMIC_RELAXED);
    return first;
}

static void disable_kinds(void) {
    for (int i = 0; i < CUPTI_KINDS; ++i) {
        if (kinds_on >> i & 1) {
            cupti.cuptiActivityDisable(cupti_kind_table[i].kind);
        }
    }
    kinds_on = 0;
}

/* Subscribed. */
static int switch_on(char reason[CUPTI_REASON]) {
    int code = cupti.cuptiActivityRegisterTimestampCallback(activity_clock);
    if (code) {
        return fail(reason, "cuptiActivityRegisterTimestampCallback", code);
    }
    code = cupti.cuptiActivityRegisterCallbacks(on_request, on_complete);
    if (code) {
        return fail(reason, "cuptiActivityRegisterCallbacks", code);
    }
    code = enable_kinds(enable_callbacks());
    if (code) {
        return fail(reason, "cuptiActivityEnable", code);
    }
    disable_quiet(CUPTI_CB_DOMAIN_RUNTIME_API, cupti.cuptiActivityEnableRuntimeApi);
    disable_quiet(CUPTI_CB_DOMAIN_DRIVER_API, cupti.cuptiActivityEnableDriverApi);
    if (cupti.cuptiActivityEnableAllSyncRecords) {
        cupti.cuptiActivityEnableAllSyncRecords(0); /* fewer records of queries, to begin with */
    }
    return 0;
}

/* If that fails, we still are. */
static void unsubscribe(void) {
    if (!cupti.cuptiUnsubscribe(subscriber)) {
        subscriber = NULL;
    }
}

static int open_session(char reason[CUPTI_REASON], void (*at_launch)(void)) {
    if (load(reason)) {
        return -1;
    }
    if (activity_open() || cupti_buffers_open()) {
        snprintf(reason, CUPTI_REASON, "no memory for them");
        return -1;
    }
    __atomic_store_n(&launched, at_launch, __ATOMIC_RELEASE);
    int code = subscriber ? CUPTI_OK : cupti.cuptiSubscribe(&subscriber, on_api, NULL);
    if (code) {
        subscriber = NULL;
        activity_pause();
        return fail(reason, "cuptiSubscribe", code);
    }
    int result = switch_on(reason);
    if (result) {
        unsubscribe();
        activity_pause();
    }
    return result;
}

/* ---- Flushing and closing ----------------------------------------------------------------------*/

static void describe_device(const struct gpu_ops *gpu, uint32_t number) {
    struct gpu_device d = {0};
    activity_begin();
    int known = activity_knows_device(number);
    activity_end();
    if (!known && !gpu->reason && gpu->device((int)number, &d) == GPU_OK) {
        activity_begin();
        activity_device(number, &d);
        activity_end();
    }
}

static void describe_devices(void) {
    uint64_t seen = __atomic_load_n(&devices, __ATOMIC_RELAXED);
    uint64_t before = __atomic_fetch_or(&devices_described, seen, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < DEVICES; ++i) {
        if ((seen & ~before) >> i & 1) {
            describe_device(gpu_ops(), i);
        }
    }
}

static void flush_session(int force) {
    int code = cupti.cuptiActivityFlushAll(force ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
    __atomic_store_n(&flush_error, code, __ATOMIC_RELEASE);
    describe_devices();
    activity_settle(); /* a report comes next: what still runs will be a late record in it */
}

static void close_session(int force) {
    disable_kinds();
    flush_session(force);
    unsubscribe();
    activity_pause();
}

static int is_library_used(void) {
    return library == LIBRARY_LOADED;
}

static void forget_session(void) {
    __atomic_store_n(&forgotten, 1, __ATOMIC_RELAXED);
}

/* ---- In words ----------------------------------------------------------------------------------*/

/* Kinds that are missing, and errors, as words to append; "" if none. */
static void put_complaints(uint32_t missing_kinds, int error, char *out, size_t size) {
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
    if (error && n < size) {
        char words[CUPTI_REASON];
        cupti_say_code(&cupti, error, words, sizeof words);
        snprintf(out + n, size - n, ", flushing fails: %.150s", words);
    }
}

static void read_sums(struct tracer_sums *out) {
    memset(out, 0, sizeof *out);
    out->records = __atomic_load_n(&records, __ATOMIC_RELAXED);
    out->ticks = __atomic_load_n(&ticks, __ATOMIC_RELAXED);
    cupti_toolkit(__atomic_load_n(&version, __ATOMIC_RELAXED), out->version, sizeof out->version);
    put_complaints(__atomic_load_n(&missing, __ATOMIC_RELAXED),
                   __atomic_load_n(&flush_error, __ATOMIC_ACQUIRE), out->complaints,
                   sizeof out->complaints);
}

const struct tracer_ops cupti_tracer = {
    .name = "cupti",
    .open = open_session,
    .close = close_session,
    .flush = flush_session,
    .is_used = is_library_used,
    .forget = forget_session,
    .sums = read_sums,
};
