/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stand-in of cupti_replay.h. It forwards what the installed libcupti answers without a GPU,
 * and answers the rest itself. Records are made of the newest structs of the headers, and written
 * at the distance by which the installed library steps, so headers and library may be of different
 * versions.
 */
#include "cupti_replay.h"

#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define KINDS 64
#define LINE 4096
#define PROBE 4096
#define CALLBACKS 2048 /* more than a domain has */

/* The newest of the headers. */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 replay_kernel;
typedef CUpti_ActivityMemcpy6 replay_memcpy;
typedef CUpti_ActivitySynchronization2 replay_sync;
#else
typedef CUpti_ActivityKernel7 replay_kernel;
typedef CUpti_ActivityMemcpy5 replay_memcpy;
typedef CUpti_ActivitySynchronization replay_sync;
#endif
typedef CUpti_ActivityMemset4 replay_memset;

union replay_record {
    CUpti_ActivityKind kind;
    replay_kernel kernel;
    replay_memcpy copy;
    replay_memset fill;
    replay_sync sync;
    CUpti_ActivityAPI api;
};

static struct {
    CUptiResult (*version)(uint32_t *);
    CUptiResult (*name)(CUpti_CallbackDomain, uint32_t, const char **);
    CUptiResult (*next)(uint8_t *, size_t, CUpti_Activity **);
    CUptiResult (*words)(CUptiResult, const char **);
    size_t stride[KINDS];
} installed;

static struct {
    union replay_record *records;
    size_t count, room;
    uint64_t first, last;
    uint32_t correlations;
} profile;

static struct {
    int subscribed;
    int enabled[KINDS];
    CUpti_TimestampCallbackFunc timestamp;
    CUpti_BuffersCallbackRequestFunc request;
    CUpti_BuffersCallbackCompleteFunc complete;
    uint64_t (*clock)(void);
    uint8_t *buffer;
    size_t size, used;
} session;

/* ---- The installed library. */

static void library_find(void *library, const char *name, void *to) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        fprintf(stderr, "cupti replay: %s\n", dlerror());
        exit(1);
    }
    memcpy(to, &symbol, sizeof symbol);
}

/* The distance of two records of that kind. */
static size_t library_step(CUpti_ActivityKind kind) {
    static union {
        uint8_t bytes[PROBE];
        uint64_t aligned;
        CUpti_ActivityKind kinds[PROBE / sizeof(CUpti_ActivityKind)];
    } probe;
    CUpti_Activity *at = NULL;
    for (size_t i = 0; i < PROBE / sizeof *probe.kinds; ++i) {
        probe.kinds[i] = kind;
    }
    if (installed.next(probe.bytes, PROBE, &at) || installed.next(probe.bytes, PROBE, &at)) {
        return 0;
    }
    return (size_t)((uint8_t *)at - probe.bytes);
}

__attribute__((constructor)) static void library_open(void) {
    static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                               CUPTI_ACTIVITY_KIND_MEMCPY,
                                               CUPTI_ACTIVITY_KIND_MEMSET,
                                               CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                               CUPTI_ACTIVITY_KIND_RUNTIME,
                                               CUPTI_ACTIVITY_KIND_DRIVER};
    void *library = dlopen(CUPTI_REAL, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "cupti replay: %s\n", dlerror());
        exit(1);
    }
    library_find(library, "cuptiGetVersion", &installed.version);
    library_find(library, "cuptiGetCallbackName", &installed.name);
    library_find(library, "cuptiActivityGetNextRecord", &installed.next);
    library_find(library, "cuptiGetResultString", &installed.words);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        installed.stride[kinds[i]] = library_step(kinds[i]);
    }
}

/* The number of a function of CUDA; 0: there is none. */
static CUpti_CallbackId library_find_function(CUpti_CallbackDomain domain, const char *function) {
    for (CUpti_CallbackId i = 1; i < CALLBACKS; ++i) {
        const char *name = NULL;
        if (!installed.name(domain, i, &name) && name && !strcmp(name, function)) {
            return i;
        }
    }
    return 0;
}

/* ---- Reading a profile. Names are kept for the life of the process, as those of CUPTI are. */

static int record_read_kernel(const char *line, union replay_record *out) {
    replay_kernel k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
    unsigned long long start, end;
    unsigned registers;
    int name = 0;
    int fields = sscanf(line, "K %llu %llu %u %u %u %u %d %d %d %d %d %d %u %d %d %n", &start, &end,
                        &k.deviceId, &k.contextId, &k.streamId, &k.correlationId, &k.gridX,
                        &k.gridY, &k.gridZ, &k.blockX, &k.blockY, &k.blockZ, &registers,
                        &k.staticSharedMemory, &k.dynamicSharedMemory, &name);
    k.start = start;
    k.end = end;
    k.completed = end;
    k.registersPerThread = (uint16_t)registers;
    k.name = strdup(line + name);
    out->kernel = k;
    return fields == 15 && k.name && *k.name;
}

static int record_read_copy(const char *line, union replay_record *out) {
    replay_memcpy m = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY};
    unsigned long long start, end, bytes;
    unsigned kind, from, to, async;
    int fields =
        sscanf(line, "M %llu %llu %u %u %u %u %llu %u %u %u %u", &start, &end, &m.deviceId,
               &m.contextId, &m.streamId, &m.correlationId, &bytes, &kind, &from, &to, &async);
    m.start = start;
    m.end = end;
    m.bytes = bytes;
    m.copyKind = (uint8_t)kind;
    m.srcKind = (uint8_t)from;
    m.dstKind = (uint8_t)to;
    if (async) {
        m.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
    }
    out->copy = m;
    return fields == 11;
}

static int record_read_fill(const char *line, union replay_record *out) {
    replay_memset m = {.kind = CUPTI_ACTIVITY_KIND_MEMSET};
    unsigned long long start, end, bytes;
    unsigned memory;
    int fields = sscanf(line, "S %llu %llu %u %u %u %u %llu %u", &start, &end, &m.deviceId,
                        &m.contextId, &m.streamId, &m.correlationId, &bytes, &memory);
    m.start = start;
    m.end = end;
    m.bytes = bytes;
    m.memoryKind = (uint16_t)memory;
    out->fill = m;
    return fields == 8;
}

static int record_read_call(const char *line, union replay_record *out) {
    CUpti_ActivityAPI a = {.kind = CUPTI_ACTIVITY_KIND_DRIVER};
    CUpti_CallbackDomain domain = CUPTI_CB_DOMAIN_DRIVER_API;
    unsigned long long start, end;
    char name[200];
    int fields =
        sscanf(line, "A %llu %llu %u %u %199s", &start, &end, &a.threadId, &a.correlationId, name);
    if (fields != 5) {
        return 0;
    }
    if (!strncmp(name, "cuda", 4)) {
        a.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
        domain = CUPTI_CB_DOMAIN_RUNTIME_API;
    }
    a.start = start;
    a.end = end;
    a.cbid = library_find_function(domain, name);
    out->api = a;
    return a.cbid != 0;
}

static int record_read_sync(const char *line, union replay_record *out) {
    replay_sync y = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
    unsigned long long start, end;
    unsigned type;
    int fields = sscanf(line, "Y %llu %llu %u %u %u %u", &start, &end, &y.contextId, &y.streamId,
                        &y.correlationId, &type);
    y.start = start;
    y.end = end;
    y.type = (CUpti_ActivitySynchronizationType)type;
    out->sync = y;
    return fields == 6;
}

static int record_read(const char *line, union replay_record *out) {
    memset(out, 0, sizeof *out);
    switch (*line) {
    case 'K':
        return record_read_kernel(line, out);
    case 'M':
        return record_read_copy(line, out);
    case 'S':
        return record_read_fill(line, out);
    case 'A':
        return record_read_call(line, out);
    case 'Y':
        return record_read_sync(line, out);
    default:
        return 0;
    }
}

/* The places of a record's times and of its correlation. */
struct replay_fields {
    uint64_t *start, *end;
    uint32_t *correlation;
};

static struct replay_fields record_fields(union replay_record *r) {
    switch (r->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        r->kernel.completed = r->kernel.end;
        return (struct replay_fields){&r->kernel.start, &r->kernel.end, &r->kernel.correlationId};
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return (struct replay_fields){&r->copy.start, &r->copy.end, &r->copy.correlationId};
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return (struct replay_fields){&r->fill.start, &r->fill.end, &r->fill.correlationId};
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        return (struct replay_fields){&r->sync.start, &r->sync.end, &r->sync.correlationId};
    default:
        return (struct replay_fields){&r->api.start, &r->api.end, &r->api.correlationId};
    }
}

static int profile_add(const union replay_record *record) {
    union replay_record r = *record;
    struct replay_fields f = record_fields(&r);
    if (profile.count == profile.room) {
        size_t room = profile.room ? 2 * profile.room : 1024;
        union replay_record *more = realloc(profile.records, room * sizeof *more);
        if (!more) {
            return -1;
        }
        profile.records = more;
        profile.room = room;
    }
    if (!profile.count || *f.start < profile.first) {
        profile.first = *f.start;
    }
    if (*f.end > profile.last) {
        profile.last = *f.end;
    }
    if (*f.correlation >= profile.correlations) {
        profile.correlations = *f.correlation + 1;
    }
    profile.records[profile.count++] = r;
    return 0;
}

long cupti_replay_read(const char *path) {
    char line[LINE];
    union replay_record r;
    long count = 0;
    FILE *in = fopen(path, "r");
    profile.count = 0;
    profile.first = 0;
    profile.last = 0;
    profile.correlations = 0;
    if (!in) {
        fprintf(stderr, "cupti replay: %s cannot be read\n", path);
        return -1;
    }
    while (count >= 0 && fgets(line, sizeof line, in)) {
        ++count;
        line[strcspn(line, "\n")] = '\0';
        if (!record_read(line, &r) || profile_add(&r)) {
            fprintf(stderr, "cupti replay: %s:%ld: not a record: %.100s\n", path, count, line);
            count = -1;
        }
    }
    fclose(in);
    return count;
}

uint64_t cupti_replay_span(void) {
    return profile.last - profile.first;
}

/* ---- Delivery. */

static uint64_t replay_now(void) {
    struct timespec now;
    if (session.clock) {
        return session.clock();
    }
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void cupti_replay_set_clock(uint64_t (*clock)(void)) {
    session.clock = clock;
}

static void buffer_deliver(void) {
    if (session.buffer) {
        session.complete(NULL, 0, session.buffer, session.size, session.used);
        session.buffer = NULL;
    }
}

/* 0: there is no room. */
static int buffer_make_room(size_t bytes) {
    size_t most = 0;
    if (session.buffer && session.size - session.used < bytes) {
        buffer_deliver();
    }
    if (!session.buffer) {
        session.size = 0;
        session.used = 0;
        session.request(&session.buffer, &session.size, &most);
    }
    return session.buffer && session.size >= bytes;
}

static int record_write(const union replay_record *r) {
    size_t stride = installed.stride[r->kind];
    size_t bytes = stride < sizeof *r ? stride : sizeof *r;
    if (!session.enabled[r->kind] || !buffer_make_room(stride)) {
        return 0;
    }
    memset(session.buffer + session.used, 0, stride);
    memcpy(session.buffer + session.used, r, bytes);
    session.used += stride;
    return 1;
}

static int delivery_is_possible(void) {
    return session.request && session.complete;
}

/* Returns the time at which the profile begins if it is delivered `times` times and ends now. */
static uint64_t delivery_get_start(unsigned times) {
    uint64_t now = session.timestamp ? session.timestamp() : replay_now();
    return now - cupti_replay_span() * times;
}

/* The record of the profile that begins there, in its so manieth repetition. */
static int record_deliver(const union replay_record *of_profile, uint64_t start, unsigned round) {
    union replay_record r = *of_profile;
    struct replay_fields f = record_fields(&r);
    *f.start += start - profile.first;
    *f.end += start - profile.first;
    *f.correlation += profile.correlations * round;
    return record_write(&r);
}

uint64_t cupti_replay_deliver(unsigned times) {
    uint64_t start = delivery_get_start(times), written = 0;
    if (!delivery_is_possible()) {
        return 0;
    }
    for (unsigned round = 0; round < times; ++round) {
        for (size_t i = 0; i < profile.count; ++i) {
            uint64_t begins = start + cupti_replay_span() * round;
            written += (uint64_t)record_deliver(&profile.records[i], begins, round);
        }
    }
    buffer_deliver();
    return written;
}

static int record_is_of_device(const union replay_record *r) {
    return r->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
           r->kind == CUPTI_ACTIVITY_KIND_MEMCPY || r->kind == CUPTI_ACTIVITY_KIND_MEMSET;
}

/* Xorshift. */
static uint64_t delivery_draw(uint64_t *seed) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

uint64_t cupti_replay_deliver_late(uint64_t seed, unsigned parts, void (*between)(void)) {
    uint64_t start = delivery_get_start(1), written = 0;
    unsigned char *part_of = calloc(profile.count + 1, 1);
    if (!delivery_is_possible() || !part_of) {
        free(part_of);
        return 0;
    }
    for (size_t i = 0; i < profile.count; ++i) {
        if (record_is_of_device(&profile.records[i])) {
            part_of[i] = (unsigned char)(delivery_draw(&seed) % parts);
        }
    }
    for (unsigned part = 0; part < parts; ++part) {
        for (size_t i = profile.count; i > 0; --i) { /* each part backwards, too */
            if (part_of[i - 1] == part) {
                written += (uint64_t)record_deliver(&profile.records[i - 1], start, 0);
            }
        }
        buffer_deliver();
        between();
    }
    free(part_of);
    return written;
}

/* ---- The functions of CUPTI. */

EXPORT CUptiResult cuptiGetVersion(uint32_t *version) {
    return installed.version(version);
}

EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
                                        const char **name) {
    return installed.name(domain, cbid, name);
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t size,
                                              CUpti_Activity **record) {
    return installed.next(buffer, size, record);
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **words) {
    return installed.words(result, words);
}

EXPORT CUptiResult cuptiGetTimestamp(uint64_t *timestamp) {
    *timestamp = replay_now();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                  void *user) {
    (void)callback;
    (void)user;
    if (session.subscribed) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    session.subscribed = 1;
    *subscriber = (CUpti_SubscriberHandle)(void *)&session;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
    (void)subscriber;
    session.subscribed = 0;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                       CUpti_CallbackDomain domain, CUpti_CallbackId cbid) {
    (void)enable;
    (void)subscriber;
    (void)domain;
    (void)cbid;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
    session.timestamp = timestamp;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                  CUpti_BuffersCallbackCompleteFunc complete) {
    session.request = request;
    session.complete = complete;
    return CUPTI_SUCCESS;
}

static CUptiResult kind_enable(CUpti_ActivityKind kind, int on) {
    if ((unsigned)kind >= KINDS) {
        return CUPTI_ERROR_INVALID_KIND;
    }
    session.enabled[kind] = on;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    return kind_enable(kind, 1);
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    return kind_enable(kind, 0);
}

EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    (void)flag;
    buffer_deliver();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream,
                                                     size_t *dropped) {
    (void)context;
    (void)stream;
    *dropped = 0;
    return CUPTI_SUCCESS;
}
