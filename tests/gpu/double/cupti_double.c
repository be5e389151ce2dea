/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the CUPTI double: subscription, callbacks, kinds of records, clock. Their
 * exports, with counting and faults around them, are generated. cupti_double.h describes the
 * behaviour and its sources.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_double_state.h"

struct double_cupti double_cupti;
pthread_mutex_t double_cupti_lock = PTHREAD_MUTEX_INITIALIZER;
#define state double_cupti
#define CLOCK_OFFSET 1700000000000000000u /* as CLOCK_REALTIME, years after 1970 */

static int double_enter(int function);
#define DOUBLE_EXPORT __attribute__((visibility("default")))
#define double_leave(function, code) (code)
#include "cupti_double.inc"

/* ---- Counts and faults: a lock of their own, which is held over nothing */

static struct {
    pthread_mutex_t lock;
    uint64_t calls[DOUBLE_FUNCTIONS];
    struct {
        uint64_t call; /* 0 = all */
        int code;      /* 0 = none */
    } fault[DOUBLE_FUNCTIONS];
    char order[DOUBLE_FUNCTIONS * 48];
    void (*hook)(const char *, void *);
    void *data;
} counts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int double_enter(int function) {
    pthread_mutex_lock(&counts.lock);
    void (*hook)(const char *, void *) = counts.hook;
    void *data = counts.data;
    uint64_t call = ++counts.calls[function];
    int hit = counts.fault[function].code &&
              (!counts.fault[function].call || counts.fault[function].call == call);
    int code = hit ? counts.fault[function].code : 0;
    if (call == 1) {
        strcat(strcat(counts.order, *counts.order ? " " : ""), double_names[function]);
    }
    pthread_mutex_unlock(&counts.lock);
    if (hook) {
        hook(double_names[function], data);
    }
    return code;
}

static int function_of(const char *name, size_t length) {
    for (int i = 0; i < DOUBLE_FUNCTIONS; ++i) {
        if (strlen(double_names[i]) == length && !memcmp(double_names[i], name, length)) {
            return i;
        }
    }
    return -1;
}

/* NAME[:N]=CODE; counts.lock is held. */
static int one_fault(const char *text, size_t length) {
    size_t name = strcspn(text, ":=");
    char *end;
    unsigned long call = 0;
    int f = name < length ? function_of(text, name) : -1;
    if (f < 0) {
        return -1;
    }
    const char *rest = text + name;
    if (*rest == ':') {
        call = strtoul(rest + 1, &end, 10);
        rest = end;
    }
    if (*rest != '=') {
        return -1;
    }
    counts.fault[f].code = (int)strtol(rest + 1, &end, 10);
    counts.fault[f].call = call ? counts.calls[f] + call : 0;
    return end == text + length && counts.fault[f].code ? 0 : -1;
}

int cupti_double_fail(const char *faults) {
    int bad = 0;
    LOCKED(&counts.lock);
    memset(counts.fault, 0, sizeof counts.fault);
    while (faults && *faults) {
        size_t length = strcspn(faults, ",");
        bad |= one_fault(faults, length);
        faults += length + (faults[length] == ',');
    }
    return bad;
}

static uint64_t count(int function) {
    LOCKED(&counts.lock);
    uint64_t n = 0;
    for (int i = 0; i < DOUBLE_FUNCTIONS; ++i) {
        n += function < 0 || i == function ? counts.calls[i] : 0;
    }
    return n;
}

uint64_t cupti_double_calls(const char *function) {
    int f = function_of(function, strlen(function));
    return f < 0 ? UINT64_MAX : count(f);
}

uint64_t cupti_double_calls_all(void) {
    return count(-1);
}

const char *cupti_double_order(void) {
    return counts.order;
}

void cupti_double_hook(void (*hook)(const char *function, void *data), void *data) {
    LOCKED(&counts.lock);
    counts.hook = hook;
    counts.data = data;
}

/* ---- What is asked of it */

static CUptiResult double_cuptiGetVersion(uint32_t *a) {
    LOCKED(&double_cupti_lock);
    *a = state.version;
    return 0;
}

static CUptiResult double_cuptiGetResultString(CUptiResult a, const char **b) {
    *b = a == 987 ? "CUPTI_ERROR_OF_THE_DOUBLE" : NULL;
    return *b ? 0 : 1;
}

/* The caller holds the lock. */
static void subscribe(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *user) {
    state.subscribed = 1;
    ++state.sessions;
    state.callback = callback;
    state.user = user;
    *handle = &double_cupti;
}

/* 39 for a second subscriber (cupti_callbacks.h at cuptiSubscribe), and beside a client that
 * subscribed with the other function: CUPTI's documentation of 13.3, "V1/V2
 * API Mixing". */
static CUptiResult double_cuptiSubscribe(CUpti_SubscriberHandle *a, CUpti_CallbackFunc b, void *c) {
    LOCKED(&double_cupti_lock);
    if (state.subscribed || state.other_scoped || state.holder) {
        return 39;
    }
    subscribe(a, b, c);
    return 0;
}

/* CUpti_SubscriberParams of cupti_callbacks.h of CUDA 13.5. */
struct scoped_params {
    size_t size;
    const char *name;
    char *old_name;
    size_t old_size;
    uint8_t multiple;
    uint8_t padding[7];
};

/* "The first subscriber must set allowMultipleSubscribers; all must use the same setting" (CUPTI's
 * documentation of 13.3, "Enabling Multiple Subscribers"). Else "the name of the incompatible tool
 * or the existing CUPTI subscriber will be written" (cupti_callbacks.h at cuptiSubscribe_v2). */
static CUptiResult double_cuptiSubscribe_v2(CUpti_SubscriberHandle *a, CUpti_CallbackFunc b,
                                            void *c, CUpti_SubscriberParams *d) {
    struct scoped_params params;
    size_t name_end = offsetof(struct scoped_params, multiple);
    memset(&params, 0, sizeof params);
    memcpy(&params, d, name_end);
    if (params.size >= sizeof params) {
        memcpy(&params, d, sizeof params);
    }
    LOCKED(&double_cupti_lock);
    if (state.subscribed || state.holder || (state.other_scoped && !params.multiple)) {
        if (params.old_name && state.holder) {
            snprintf(params.old_name, params.old_size, "%s", state.holder);
        }
        return 39;
    }
    if (state.version < 130300 && params.multiple) {
        return 27;
    }
    if (params.size < name_end || !params.name) {
        return 1;
    }
    subscribe(a, b, c);
    state.scoped = params.multiple;
    return 0;
}

/* Returns what a global function does beside subscribers with a scope: 14, "Cannot mix global-scope
 * and subscriber-scope activity APIs" (openxla/xla#41501). Takes no lock, because some are called
 * from within callbacks; the fields do not change at that time. */
static int refuses_global(void) {
    if (!state.scoped && !state.other_scoped) {
        return 0;
    }
    state.mixed |= state.scoped;
    return 14;
}

static int refuses_scoped(CUpti_SubscriberHandle handle) {
    return state.scoped && handle == &double_cupti ? 0 : 1;
}

static CUptiResult double_cuptiUnsubscribe(CUpti_SubscriberHandle a) {
    LOCKED(&double_cupti_lock);
    if (a != &double_cupti || !state.subscribed) {
        return 1;
    }
    state.subscribed = 0;
    state.scoped = 0;
    memset(state.calls_back, 0, sizeof state.calls_back);
    return 0;
}

static CUptiResult double_cuptiEnableCallback(uint32_t a, CUpti_SubscriberHandle b,
                                              CUpti_CallbackDomain c, CUpti_CallbackId d) {
    LOCKED(&double_cupti_lock);
    if (b != &double_cupti || !state.subscribed || !double_api_name(c, d)) {
        return 1;
    }
    state.calls_back[c][d] = a != 0;
    return 0;
}

static CUptiResult double_cuptiGetCallbackName(CUpti_CallbackDomain a, uint32_t b, const char **c) {
    *c = double_api_name(a, b);
    return *c ? 0 : 1;
}

/* Works before CUPTI is subscribed and CUDA initialised, too, as libcupti 13.0 without a driver
 * does. It takes no lock, because it is called from within callbacks. */
static CUptiResult double_cuptiGetTimestamp(uint64_t *a) {
    *a = double_clock();
    return refuses_global();
}

static CUptiResult double_cuptiGetTimestamp_v2(CUpti_SubscriberHandle a, uint64_t *b) {
    *b = double_clock();
    return refuses_scoped(a);
}

static CUptiResult set_attribute(CUpti_ActivityAttribute a, size_t *b, void *c);

/* The one attribute that is used; known from CUDA 12.3 on. */
static CUptiResult double_cuptiActivitySetAttribute(CUpti_ActivityAttribute a, size_t *b, void *c) {
    int refused = refuses_global();
    return refused ? refused : set_attribute(a, b, c);
}

/* Attributes are those of the subscriber: each has to set its own. */
static CUptiResult double_cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle a,
                                                       CUpti_ActivityAttribute b, size_t *c,
                                                       void *d) {
    int refused = refuses_scoped(a);
    return refused ? refused : set_attribute(b, c, d);
}

static CUptiResult set_attribute(CUpti_ActivityAttribute a, size_t *b, void *c) {
    LOCKED(&double_cupti_lock);
    if (a != CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER || *b != 1 || state.version < 21) {
        return 1;
    }
    state.misused |= state.complete != NULL && !state.scoped;
    state.per_thread = 1 + *(uint8_t *)c;
    return 0;
}

static CUptiResult double_cuptiSetThreadIdType(CUpti_ActivityThreadIdType a) {
    if (refuses_global()) {
        return 14;
    }
    LOCKED(&double_cupti_lock);
    state.misused |= state.complete != NULL;
    state.thread_type = a;
    return 0;
}

int double_has_thread_buffers(void) {
    if (state.per_thread) {
        return state.per_thread - 1;
    }
    return state.version >= 130000;
}

int cupti_double_per_thread(void) {
    LOCKED(&double_cupti_lock);
    return double_has_thread_buffers();
}

int cupti_double_misused(void) {
    LOCKED(&double_cupti_lock);
    return state.misused;
}

static CUptiResult double_cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc a,
                                                         CUpti_BuffersCallbackCompleteFunc b) {
    if (refuses_global()) {
        return 14;
    }
    LOCKED(&double_cupti_lock);
    if (state.register_drops && state.request) {
        double_forget();
    }
    state.request = a;
    state.complete = b;
    return a && b ? 0 : 1;
}

/* With the lock, as buffers are asked for and returned. */
static void request_scoped(uint8_t **buffer, size_t *size, size_t *records) {
    state.request_scoped(buffer, size, records, NULL);
}

static void complete_scoped(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                            size_t valid) {
    (void)context;
    (void)stream;
    state.complete_scoped(buffer, size, valid, NULL);
}

static CUptiResult
double_cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle a,
                                         CUpti_BuffersCallbackRequestFunc_v2 b,
                                         CUpti_BuffersCallbackCompleteFunc_v2 c) {
    if (refuses_scoped(a) || !b || !c) {
        return 1;
    }
    LOCKED(&double_cupti_lock);
    state.request_scoped = b;
    state.complete_scoped = c;
    state.request = request_scoped;
    state.complete = complete_scoped;
    return 0;
}

/* ---- Another client */

static size_t taken_bytes; /* under the lock, as its callbacks are called with it */
static uint8_t taken_buffer[1 << 16];

static void take_request(uint8_t **buffer, size_t *size, size_t *records) {
    *buffer = taken_buffer;
    *size = sizeof taken_buffer;
    *records = 0;
}

static void take_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                          size_t valid) {
    (void)context;
    (void)stream;
    (void)buffer;
    (void)size;
    taken_bytes += valid;
}

void cupti_double_take_over(void) {
    LOCKED(&double_cupti_lock);
    taken_bytes = 0;
    state.request = take_request;
    state.complete = take_complete;
}

size_t cupti_double_taken(void) {
    LOCKED(&double_cupti_lock);
    return taken_bytes;
}

static CUptiResult enable(CUpti_ActivityKind kind, int on) {
    LOCKED(&double_cupti_lock);
    if (kind <= 0 || kind >= DOUBLE_KINDS || !double_stride_of((uint32_t)kind)) {
        return 21;
    }
    state.enabled[kind] = on;
    return 0;
}

static CUptiResult double_cuptiActivityEnable(CUpti_ActivityKind a) {
    int refused = refuses_global();
    return refused ? refused : enable(a, 1);
}

static CUptiResult double_cuptiActivityDisable(CUpti_ActivityKind a) {
    int refused = refuses_global();
    return refused ? refused : enable(a, 0);
}

/* Without a configuration records are those of the global function: JAX (mosaic_gpu_ext.cc) reads
 * CUpti_ActivityKernel9 from them. */
static CUptiResult double_cuptiActivityEnable_v2(CUpti_SubscriberHandle a, CUpti_ActivityKind b,
                                                 CUpti_ActivityConfig *c) {
    int refused = refuses_scoped(a) || c;
    if (!refused && state.scoped_kinds_fail) {
        refused = 27;
    }
    return refused ? refused : enable(b, 1);
}

static CUptiResult double_cuptiActivityDisable_v2(CUpti_SubscriberHandle a, CUpti_ActivityKind b,
                                                  CUpti_ActivityConfig *c) {
    int refused = refuses_scoped(a) || c;
    return refused ? refused : enable(b, 0);
}

static CUptiResult double_cuptiActivityFlushAll(uint32_t a) {
    LOCKED(&double_cupti_lock);
    if (!state.complete) {
        return 7;
    }
    if (state.lazy_flushes && !(a & 1)) {
        --state.lazy_flushes;
        return 0;
    }
    double_flush(a & 1);
    return 0;
}

static CUptiResult next_record(uint8_t *a, size_t b, CUpti_Activity **c);

static CUptiResult double_cuptiActivityGetNextRecord(uint8_t *a, size_t b, CUpti_Activity **c) {
    int refused = refuses_global();
    return refused ? refused : next_record(a, b, c);
}

static CUptiResult double_cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle a, uint8_t *b,
                                                        size_t c, CUpti_Activity **d) {
    int refused = refuses_scoped(a);
    return refused ? refused : next_record(b, c, d);
}

/* Without the lock: it is called from within callbacks. Strides do not change meanwhile. */
static CUptiResult next_record(uint8_t *a, size_t b, CUpti_Activity **c) {
    uint32_t kind;
    uint8_t *at = *c ? (uint8_t *)*c : a;
    if (*c) {
        memcpy(&kind, at, sizeof kind);
        at += double_stride_of(kind);
    }
    if (at >= a + b) {
        return 12;
    }
    memcpy(&kind, at, sizeof kind);
    if (!double_stride_of(kind) || double_stride_of(kind) > (size_t)(a + b - at)) {
        return 21;
    }
    *c = (CUpti_Activity *)(void *)at;
    return 0;
}

static CUptiResult double_cuptiActivityGetNumDroppedRecords(CUcontext a, uint32_t b, size_t *c) {
    (void)a;
    (void)b;
    *c = __atomic_exchange_n(&state.dropped, 0, __ATOMIC_RELAXED);
    return refuses_global();
}

static CUptiResult double_cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle a,
                                                               CUcontext b, uint32_t c, size_t *d) {
    (void)b;
    (void)c;
    *d = __atomic_exchange_n(&state.dropped, 0, __ATOMIC_RELAXED);
    return refuses_scoped(a);
}

static CUptiResult set_quiet(int domain, uint32_t cbid, int quiet) {
    if (refuses_global()) {
        return 14;
    }
    LOCKED(&double_cupti_lock);
    if (!double_api_name(domain, cbid)) {
        return 1;
    }
    state.quiet[domain][cbid] = (uint8_t)quiet;
    return 0;
}

static CUptiResult double_cuptiActivityEnableRuntimeApi(CUpti_CallbackId a, uint8_t b) {
    return set_quiet(CUPTI_CB_DOMAIN_RUNTIME_API, a, !b);
}

static CUptiResult double_cuptiActivityEnableDriverApi(CUpti_CallbackId a, uint8_t b) {
    return set_quiet(CUPTI_CB_DOMAIN_DRIVER_API, a, !b);
}

static CUptiResult double_cuptiActivityEnableAllSyncRecords(uint8_t a) {
    (void)a;
    return refuses_global();
}

/* Succeeds only before the kind is enabled (cupti_activity.h at this function). */
static CUptiResult
double_cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *a,
                                                  uint32_t b) {
    LOCKED(&double_cupti_lock);
    for (uint32_t i = 0; i < b; ++i) {
        if (a[i].kind < 1 || a[i].kind > 8 || !a[i].enable) {
            return 1;
        }
    }
    return state.enabled[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER];
}

/* ---- Steering */

static void counts_clear(void) {
    LOCKED(&counts.lock);
    memset(counts.calls, 0, sizeof counts.calls);
    *counts.order = '\0';
}

void cupti_double_reset(void (*advance)(uint64_t ns), uint64_t (*now)(void)) {
    cupti_double_fail(NULL);
    cupti_double_hook(NULL, NULL);
    counts_clear();
    LOCKED(&double_cupti_lock);
    memset(&state, 0, sizeof state);
    state.advance = advance;
    state.now = now;
    state.offset = CLOCK_OFFSET;
    state.version = 130101;
    state.call_ns = 1000;
    double_forget();
}

__attribute__((constructor(1000))) static void at_load(void) {
    cupti_double_reset(NULL, NULL);
#ifdef DOUBLE_OLD
    const char *name = "STINT_CUPTI_DOUBLE_OLD_FAIL";
#else
    const char *name = "STINT_CUPTI_DOUBLE_FAIL";
#endif
    const char *version = getenv("STINT_CUPTI_DOUBLE_VERSION");
    if (version) {
        state.version = (uint32_t)strtoul(version, NULL, 10);
    }
    if (cupti_double_fail(getenv(name))) {
        fprintf(stderr, "cupti double: cannot read %s\n", name);
    }
}

void cupti_double_version(uint32_t version) {
    LOCKED(&double_cupti_lock);
    state.version = version;
}

void cupti_double_stride(uint32_t kind, size_t bytes) {
    LOCKED(&double_cupti_lock);
    state.stride[kind] = bytes;
}

void cupti_double_drop(size_t records) {
    __atomic_fetch_add(&state.dropped, records, __ATOMIC_RELAXED);
}

void cupti_double_other_scoped(int on) {
    LOCKED(&double_cupti_lock);
    state.other_scoped = on;
}

int cupti_double_scoped(void) {
    LOCKED(&double_cupti_lock);
    return state.scoped;
}

int cupti_double_mixed(void) {
    LOCKED(&double_cupti_lock);
    return state.mixed;
}

int cupti_double_subscribed(void) {
    LOCKED(&double_cupti_lock);
    return state.subscribed;
}

int cupti_double_enabled(uint32_t kind) {
    LOCKED(&double_cupti_lock);
    return state.enabled[kind];
}

/* Returns whether the flag of that function is set in one of the domains. */
static int flag_of(uint8_t flags[3][DOUBLE_APIS], const char *api) {
    uint32_t driver = double_api(CUPTI_CB_DOMAIN_DRIVER_API, api);
    uint32_t runtime = double_api(CUPTI_CB_DOMAIN_RUNTIME_API, api);
    return (driver && flags[CUPTI_CB_DOMAIN_DRIVER_API][driver]) ||
           (runtime && flags[CUPTI_CB_DOMAIN_RUNTIME_API][runtime]);
}

int cupti_double_calls_back(const char *api) {
    LOCKED(&double_cupti_lock);
    return flag_of(state.calls_back, api);
}

int cupti_double_records_call(const char *api) {
    LOCKED(&double_cupti_lock);
    int kind = double_api(CUPTI_CB_DOMAIN_DRIVER_API, api) ? CUPTI_ACTIVITY_KIND_DRIVER
                                                           : CUPTI_ACTIVITY_KIND_RUNTIME;
    return state.enabled[kind] && !flag_of(state.quiet, api);
}

uint64_t cupti_double_now(void) {
    LOCKED(&double_cupti_lock);
    return double_clock();
}

void cupti_double_clock(void (*advance)(uint64_t ns), uint64_t (*now)(void)) {
    LOCKED(&double_cupti_lock);
    uint64_t before = double_clock();
    state.advance = advance;
    state.now = now;
    state.offset += before - double_clock();
}

void cupti_double_clock_step(int64_t ns) {
    LOCKED(&double_cupti_lock);
    state.offset += (uint64_t)ns;
}

void cupti_double_clock_drift(int32_t ppm) {
    LOCKED(&double_cupti_lock);
    uint64_t now = double_clock();
    state.drift_ppm = ppm;
    state.drift_from = double_base();
    state.offset += now - double_clock();
}

uint64_t cupti_double_buffers(void) {
    LOCKED(&double_cupti_lock);
    return state.buffers;
}

uint64_t cupti_double_refused(void) {
    LOCKED(&double_cupti_lock);
    return state.refused;
}
