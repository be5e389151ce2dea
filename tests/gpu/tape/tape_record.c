/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The libcupti that records a tape (tape.h): it forwards each call to the real one that TAPE_REAL
 * names and writes what passes to TAPE_OUT, at most 15 MiB; without TAPE_OUT it only forwards. It
 * has the global functions alone, without those per subscriber.
 */
#include "tape.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cupti_types.inc"

#define EXPORT __attribute__((visibility("default")))
#define LIMIT ((size_t)15 << 20)
#define KINDS 256
#define NAMES 64        /* of kernels, the last that were seen */
#define CONFIG_BYTES 56 /* of CUlaunchConfig and cudaLaunchConfig_t */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *tape;
static size_t written;
static struct cupti real;

/* ---- Writing. A chunk that does not fit any more is left out, and all after it. */

static void tape_put(uint32_t type, const void *head, size_t head_bytes, const void *rest,
                     size_t rest_bytes) {
    const struct tape_chunk chunk = {type, (uint32_t)(head_bytes + rest_bytes)};
    pthread_mutex_lock(&lock);
    int was_full = written > LIMIT;
    written += sizeof chunk + chunk.bytes;
    if (tape && written > LIMIT && !was_full) {
        fprintf(stderr, "tape: TAPE_OUT is full: what comes after %zu MiB is not on it\n",
                LIMIT >> 20);
    } else if (tape && written <= LIMIT) {
        fwrite(&chunk, sizeof chunk, 1, tape);
        fwrite(head, 1, head_bytes, tape);
        fwrite(rest, 1, rest_bytes, tape);
        fflush(tape);
    }
    pthread_mutex_unlock(&lock);
}

static void tape_put_text(uint32_t type, const void *head, size_t bytes, const char *text) {
    tape_put(type, head, bytes, text, strlen(text) + 1);
}

static int tape_put_code(const char *function, int code) {
    tape_put_text(TAPE_CODE, &code, sizeof code, function);
    return code;
}

static uint64_t tape_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t tape_thread(void) {
    return (uint32_t)syscall(SYS_gettid);
}

/* The driver's version and the device, from the driver that the program has loaded. */
static void tape_put_about(void) {
    char about[200], name[100] = "";
    int version = 0;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int (*get_version)(int *) = NULL;
    int (*get_name)(char *, int, int) = NULL;
    if (driver) {
        *(void **)&get_version = dlsym(driver, "cuDriverGetVersion");
        *(void **)&get_name = dlsym(driver, "cuDeviceGetName");
    }
    if (get_version && get_name) {
        get_version(&version);
        get_name(name, (int)sizeof name, 0);
    }
    int n = snprintf(about, sizeof about, "driver %d, %s", version, name);
    tape_put(TAPE_ABOUT, about, (size_t)n + 1, "", 0);
}

/* ---- The real library */

static void real_find(void *library, const char *name, void *to) {
    void *symbol = dlsym(library, name);
    memcpy(to, &symbol, sizeof symbol);
}

#define FIND(name) real_find(library, #name, &real.name)

__attribute__((constructor)) static void tape_begin(void) {
    const char *path = getenv("TAPE_REAL"), *out = getenv("TAPE_OUT");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "tape: TAPE_REAL: %s\n", path ? dlerror() : "not set");
        return;
    }
    FIND(cuptiGetVersion), FIND(cuptiGetResultString), FIND(cuptiSubscribe);
    FIND(cuptiUnsubscribe), FIND(cuptiEnableCallback), FIND(cuptiGetCallbackName);
    FIND(cuptiGetTimestamp), FIND(cuptiActivitySetAttribute), FIND(cuptiSetThreadIdType);
    FIND(cuptiActivityRegisterCallbacks), FIND(cuptiActivityEnable), FIND(cuptiActivityDisable);
    FIND(cuptiActivityFlushAll), FIND(cuptiActivityGetNextRecord);
    FIND(cuptiActivityGetNumDroppedRecords), FIND(cuptiActivityEnableRuntimeApi);
    FIND(cuptiActivityEnableDriverApi), FIND(cuptiActivityEnableAllSyncRecords);
    FIND(cuptiActivityConfigureUnifiedMemoryCounter);
    tape = out && *out ? fopen(out, "wb") : NULL;
    if (out && *out && !tape) {
        fprintf(stderr, "tape: TAPE_OUT: %s cannot be written\n", out);
    }
    if (tape) {
        fwrite(TAPE_MAGIC, 1, 8, tape);
    }
}

/* A function of the real library that may be missing: INVALID_KIND then. */
#define CALL(name, ...) (real.name ? real.name(__VA_ARGS__) : 21)

/* ---- Calls, and what CUPTI calls */

static CUpti_CallbackFunc callback_of_client;
static CUpti_BuffersCallbackCompleteFunc complete_of_client;
static uint8_t has_config[3][4096]; /* functions with a configuration; by their names */

static void tape_on_call(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
                         const void *data) {
    const struct cupti_callback *call = data;
    struct tape_callback c = {.domain = (uint32_t)domain,
                              .cbid = cbid,
                              .site = call->callbackSite,
                              .correlation = call->correlationId,
                              .thread = tape_thread(),
                              .time = tape_now(),
                              .context = call->context};
    if (call->callbackSite == CUPTI_API_EXIT && call->functionReturnValue) {
        memcpy(&c.code, (const void *)(uintptr_t)call->functionReturnValue, sizeof c.code);
    }
    if (call->functionParams) {
        memcpy(c.words, (const void *)(uintptr_t)call->functionParams, sizeof c.words);
    }
    if (domain < 3 && cbid < 4096 && has_config[domain][cbid] && c.words[0]) {
        memcpy(c.config, (const void *)(uintptr_t)c.words[0], CONFIG_BYTES);
    }
    tape_put(TAPE_CALLBACK, &c, sizeof c, "", 0);
    callback_of_client(user, domain, cbid, data);
}

/* The buffer that is being read by this thread: its names are those of kernels. */
static __thread const uint8_t *buffer_from, *buffer_end;

static void tape_on_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                             size_t valid) {
    const struct tape_buffer b = {tape_now(), tape_thread(), (uint32_t)valid};
    if (buffer && valid) {
        tape_put(TAPE_BUFFER, &b, sizeof b, buffer, valid);
    }
    buffer_from = buffer;
    buffer_end = buffer + valid;
    complete_of_client(context, stream, buffer, size, valid);
    buffer_from = buffer_end = NULL;
}

static void tape_note_name(const uint8_t *record) {
    static __thread uint64_t known[NAMES];
    uint64_t name;
    memcpy(&name, record + offsetof(struct cupti_kernel, name), sizeof name);
    if (name && known[name / 16 % NAMES] != name) {
        known[name / 16 % NAMES] = name;
        tape_put_text(TAPE_POINTER, &name, sizeof name, (const char *)(uintptr_t)name);
    }
}

/* The library asks for the record after each, made up or real: so all sizes pass here. */
static void tape_note_record(const uint8_t *before, const uint8_t *record) {
    static uint8_t known[KINDS];
    uint32_t size[2];
    if (before) {
        memcpy(&size[0], before, sizeof size[0]);
        size[1] = (uint32_t)(record - before);
        if (size[0] < KINDS && !__atomic_exchange_n(&known[size[0]], 1, __ATOMIC_RELAXED)) {
            tape_put(TAPE_SIZE, size, sizeof size, "", 0);
        }
    }
    memcpy(&size[0], record, sizeof size[0]);
    if (size[0] == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && record >= buffer_from &&
        record < buffer_end) {
        tape_note_name(record);
    }
}

/* ---- The functions of CUPTI: those of which more is kept than their code, and the others. */

EXPORT CUptiResult cuptiGetVersion(uint32_t *version) {
    int code = CALL(cuptiGetVersion, version);
    tape_put(TAPE_VERSION, version, sizeof *version, "", 0);
    return code;
}

EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
                                        const char **name) {
    const uint32_t of[2] = {(uint32_t)domain, cbid};
    int code = CALL(cuptiGetCallbackName, domain, cbid, name);
    if (!code && *name && domain < 3 && cbid < 4096) {
        has_config[domain][cbid] = strstr(*name, "LaunchKernelEx") != NULL;
        tape_put_text(TAPE_NAME, of, sizeof of, *name);
    }
    return code;
}

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                  void *user) {
    callback_of_client = callback;
    int code = CALL(cuptiSubscribe, subscriber, tape_on_call, user);
    tape_put_about();
    return tape_put_code("cuptiSubscribe", code);
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                  CUpti_BuffersCallbackCompleteFunc complete) {
    complete_of_client = complete;
    int code = CALL(cuptiActivityRegisterCallbacks, request, tape_on_complete);
    return tape_put_code("cuptiActivityRegisterCallbacks", code);
}

EXPORT CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t size,
                                              CUpti_Activity **record) {
    const uint8_t *before = (const uint8_t *)*record;
    int code = CALL(cuptiActivityGetNextRecord, buffer, size, record);
    if (!code) {
        tape_note_record(before, (const uint8_t *)*record);
    }
    return code;
}

static int tape_put_number(const char *function, int number, int code) {
    char text[60];
    snprintf(text, sizeof text, "%s %d", function, number);
    return tape_put_code(text, code);
}

/* With its number, without, and without its code, as it is called often. */
#define FORWARD_NUMBER(name, number, parameters, ...)                                              \
    EXPORT CUptiResult name parameters {                                                           \
        return tape_put_number(#name, (int)number, CALL(name, __VA_ARGS__));                       \
    }
#define FORWARD_CODE(name, parameters, ...)                                                        \
    EXPORT CUptiResult name parameters {                                                           \
        return tape_put_code(#name, CALL(name, __VA_ARGS__));                                      \
    }
#define FORWARD(name, parameters, ...)                                                             \
    EXPORT CUptiResult name parameters {                                                           \
        return CALL(name, __VA_ARGS__);                                                            \
    }

FORWARD_NUMBER(cuptiActivityEnable, kind, (CUpti_ActivityKind kind), kind)
FORWARD_NUMBER(cuptiActivityDisable, kind, (CUpti_ActivityKind kind), kind)
FORWARD_NUMBER(cuptiActivityFlushAll, flags, (uint32_t flags), flags)
FORWARD_NUMBER(cuptiActivitySetAttribute, what,
               (CUpti_ActivityAttribute what, size_t *size, void *value), what, size, value)
FORWARD_NUMBER(cuptiSetThreadIdType, type, (CUpti_ActivityThreadIdType type), type)
FORWARD_NUMBER(cuptiActivityEnableAllSyncRecords, on, (uint8_t on), on)
FORWARD_CODE(cuptiUnsubscribe, (CUpti_SubscriberHandle subscriber), subscriber)
FORWARD_CODE(cuptiActivityConfigureUnifiedMemoryCounter,
             (CUpti_ActivityUnifiedMemoryCounterConfig * config, uint32_t count), config, count)
FORWARD(cuptiGetResultString, (CUptiResult code, const char **text), code, text)
FORWARD(cuptiEnableCallback,
        (uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain domain, CUpti_CallbackId cbid),
        on, s, domain, cbid)
FORWARD(cuptiActivityGetNumDroppedRecords, (CUcontext context, uint32_t stream, size_t *dropped),
        context, stream, dropped)
FORWARD(cuptiGetTimestamp, (uint64_t * time), time)
FORWARD(cuptiActivityEnableRuntimeApi, (CUpti_CallbackId cbid, uint8_t on), cbid, on)
FORWARD(cuptiActivityEnableDriverApi, (CUpti_CallbackId cbid, uint8_t on), cbid, on)
