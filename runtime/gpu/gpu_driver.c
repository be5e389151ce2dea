/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end over the CUDA driver, which is loaded at run time: neither a header nor a library of
 * CUDA's is needed to build.
 *
 * A library that was opened stays open, also when it cannot be used: other code of the process may
 * use it, and unloading it is not known to be safe. With a driver that was not initialised all
 * calls return 3.
 *
 * A destroyed context, or an event of one, must not be given to the driver ("undefined behavior",
 * cuda.h at cuCtxDestroy). No call tells whether a handle is valid. Two ask without a handle:
 * cuCtxGetId for the current context, and cuDevicePrimaryCtxGetState for a device's primary one.
 */
#include "gpu_backends.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "cuda_codes.h"
#include "system/calm.h"
#include "system/clock.h"
#include "system/config.h"

struct driver_symbol {
    const char *names[2];
    size_t offset;
    int required;
};

struct driver_attribute {
    int number;
    size_t offset;
};

#include "driver_table.inc"

#define DEFAULT_LIBRARY "libcuda.so.1"
#define RUNTIME_LOOK_NS 1000000000u
#define PUBLISH_TRIES 10000 /* to wait for a copy of some 500 bytes, with no call out */

struct loaded {
    struct driver functions;
    char reason[240]; /* "" = usable */
};

/* The functions that the ops call, and the reason why there are none. Written under `publishing`:
 * the functions by the first thread that finds a usable driver, before any thread has its ops; the
 * reason where that changes it, before any thread has the ops of a refused one. */
static struct loaded loaded;
static int publishing;
#define driver (loaded.functions)

/* ---- Contexts */

/* The devices of contexts, whose ids are never used twice: id << 16 | device + 1 in one word, read
 * and written whole. On a collision the driver is called again. */
#define KNOWN 64
static uint64_t known[KNOWN];

/* By its id where contexts have one (CUDA 12.0), as another may have its address. */
static int driver_context_is_current(const struct gpu_context *c) {
    unsigned long long id = 0;
    void *now = NULL;
    if (c->id && driver.cuCtxGetId) {
        return !driver.cuCtxGetId(NULL, &id) && id == c->id;
    }
    return !driver.cuCtxGetCurrent(&now) && now == c->handle;
}

static int driver_enter_context(const struct gpu_context *c) {
    if (driver.cuCtxPushCurrent && driver.cuCtxPopCurrent) {
        return driver.cuCtxPushCurrent(c->handle);
    }
    return driver_context_is_current(c) ? GPU_OK : GPU_UNSUPPORTED;
}

static void driver_leave_context(const struct gpu_context *c) {
    void *popped;
    (void)c;
    if (driver.cuCtxPushCurrent && driver.cuCtxPopCurrent) {
        driver.cuCtxPopCurrent(&popped);
    }
}

/* -1: unknown. */
static int driver_ask_device_of(const struct gpu_context *c) {
    int device = -1;
    int pushed = 0;
    if (!driver.cuCtxGetDevice) {
        return -1;
    }
    if (!driver_context_is_current(c)) {
        if (driver_enter_context(c)) {
            return -1;
        }
        pushed = 1;
    }
    if (driver.cuCtxGetDevice(&device)) {
        device = -1;
    }
    if (pushed) {
        driver_leave_context(c);
    }
    return device;
}

static int driver_get_device_of(const struct gpu_context *c) {
    uint64_t *word = &known[c->id % KNOWN];
    uint64_t have = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (c->id && have >> 16 == c->id) {
        return (int)(have & 0xffff) - 1;
    }
    int device = driver_ask_device_of(c);
    if (c->id && c->id >> 48 == 0 && device >= 0 && device < 0xffff) {
        __atomic_store_n(word, c->id << 16 | ((uint64_t)device + 1), __ATOMIC_RELAXED);
    }
    return device;
}

/* The process in which the last call found CUDA not initialised, 0: it found it initialised; any
 * thread, relaxed. */
static int missing_in;

static void driver_note_context(int code) {
    int process = 0;
    if (code == GPU_NOT_INITIALIZED) {
        process = getpid();
    }
    if (__atomic_load_n(&missing_in, __ATOMIC_RELAXED) != process) {
        __atomic_store_n(&missing_in, process, __ATOMIC_RELAXED);
    }
}

/* The program may have initialised it since, without a call of this library. In the child of a fork
 * the driver is not asked. */
static int driver_is_uninitialized(void) {
    void *now = NULL;
    int process = __atomic_load_n(&missing_in, __ATOMIC_RELAXED);
    if (process && process == getpid()) {
        driver_note_context(driver.cuCtxGetCurrent(&now));
        process = __atomic_load_n(&missing_in, __ATOMIC_RELAXED);
    }
    return process != 0;
}

static int driver_get_context(void *stream, struct gpu_context *out) {
    unsigned long long id = 0;
    int code = GPU_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    out->device = -1;
    if (!gpu_stream_is_default(stream) && driver.cuStreamGetCtx) {
        code = driver.cuStreamGetCtx(stream, &out->handle);
    }
    if (code == GPU_UNSUPPORTED) {
        code = driver.cuCtxGetCurrent(&out->handle);
    }
    driver_note_context(code);
    if (!code && !out->handle) {
        code = GPU_INVALID_CONTEXT;
    }
    if (!code && driver.cuCtxGetId) {
        code = driver.cuCtxGetId(out->handle, &id);
    }
    if (!code) {
        out->id = id;
        out->device = driver_get_device_of(out);
    }
    return code;
}

/* ---- The context of a thread before its first call
 *
 * CUDA's runtime then uses the primary context of the thread's device, which it alone knows. It is
 * asked only where the program has loaded it as a shared library; a static one has no name to be
 * found by, and then the device is known only if there is just one. The context is not kept: its
 * count of references is what it was. If another thread resets the device between the two calls,
 * the second makes a context, which ends with the reference: it is then no longer active. */

typedef int driver_get_device(int *device);
static driver_get_device *runtime_get_device; /* any thread, relaxed: all find the same */
static uint64_t next_runtime_look;            /* ticks; any thread, relaxed */

static driver_get_device *driver_look_for_runtime(void) {
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0",
                                        "libcudart.so.10.2", "libcudart.so.10.1"};
    driver_get_device *function = NULL;
    for (size_t i = 0; !function && i < sizeof names / sizeof *names; ++i) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (library) {
            void *symbol = dlsym(library, "cudaGetDevice");
            memcpy(&function, &symbol, sizeof symbol);
        }
    }
    dlerror();
    return function;
}

/* Looks once a second at most, as that takes 0.1 ms. */
static driver_get_device *driver_find_runtime(void) {
    driver_get_device *known_one = __atomic_load_n(&runtime_get_device, __ATOMIC_RELAXED);
    uint64_t now = clock_ticks();
    if (known_one || now < __atomic_load_n(&next_runtime_look, __ATOMIC_RELAXED)) {
        return known_one;
    }
    driver_get_device *function = driver_look_for_runtime();
    __atomic_store_n(&runtime_get_device, function, __ATOMIC_RELAXED);
    __atomic_store_n(&next_runtime_look, now + clock_ticks_of_ns(RUNTIME_LOOK_NS),
                     __ATOMIC_RELAXED);
    return function;
}

/* -1: not known. */
static int driver_get_thread_device(void) {
    int device = -1, count = 0;
    driver_get_device *get_device = driver_find_runtime();
    if (get_device) {
        return get_device(&device) ? -1 : device;
    }
    if (!driver.cuDeviceGetCount || driver.cuDeviceGetCount(&count) || count != 1) {
        return -1;
    }
    return 0;
}

static int driver_is_primary_active(int device) {
    int active = 0;
    unsigned flags = 0;
    return !driver.cuDevicePrimaryCtxGetState(device, &flags, &active) && active;
}

static int driver_knows_primaries(void) {
    return driver.cuDevicePrimaryCtxGetState && driver.cuDevicePrimaryCtxRetain &&
           driver.cuDevicePrimaryCtxRelease;
}

/* The device's primary context; NULL: it is not active. */
static void *driver_find_primary(int device) {
    void *handle = NULL;
    if (!driver_knows_primaries() || device < 0 || !driver_is_primary_active(device) ||
        driver.cuDevicePrimaryCtxRetain(&handle, device)) {
        return NULL;
    }
    if (driver.cuDevicePrimaryCtxRelease(device) || !driver_is_primary_active(device)) {
        return NULL;
    }
    return handle;
}

static int driver_context_is_primary(const struct gpu_context *c) {
    return driver_find_primary(c->device) == c->handle;
}

/* Only a primary context can be asked for where it is not current. */
static enum gpu_existence driver_context_exists(const struct gpu_context *c, int primary) {
    unsigned long long id = 0;
    void *now = NULL;
    if (!driver.cuCtxGetCurrent(&now) && now == c->handle) {
        return GPU_IS_GONE; /* it is not current: another one has its address, or none */
    }
    if (!primary) {
        return GPU_MAY_BE_GONE;
    }
    if (driver_find_primary(c->device) != c->handle) {
        return GPU_IS_GONE;
    }
    if (driver.cuCtxGetId && (driver.cuCtxGetId(c->handle, &id) || id != c->id)) {
        return GPU_IS_GONE;
    }
    return GPU_EXISTS;
}

/* The device whose primary context exists and is the calling thread's; -1: there is none. */
static int driver_get_primary_device(void) {
    if (!driver_knows_primaries() || calm_thread_blocks_signal()) {
        return -1;
    }
    int device = driver_get_thread_device();
    if (device < 0 || !driver_is_primary_active(device)) {
        return -1;
    }
    return device;
}

static int driver_get_primary(void *stream, struct gpu_context *out) {
    unsigned long long id = 0;
    memset(out, 0, sizeof *out);
    out->device = -1;
    if (!gpu_stream_is_default(stream)) {
        return GPU_INVALID_CONTEXT;
    }
    int device = driver_get_primary_device();
    if (device < 0 || driver.cuDevicePrimaryCtxRetain(&out->handle, device)) {
        return GPU_INVALID_CONTEXT;
    }
    int code = driver.cuDevicePrimaryCtxRelease(device);
    if (!code && !driver_is_primary_active(device)) {
        return GPU_INVALID_CONTEXT;
    }
    if (!code && driver.cuCtxGetId) {
        code = driver.cuCtxGetId(out->handle, &id);
    }
    out->id = id;
    out->device = device;
    return code;
}

static int driver_wait(void) {
    if (!driver.cuCtxSynchronize) {
        return GPU_UNSUPPORTED;
    }
    return driver.cuCtxSynchronize();
}

/* ---- Streams and events */

static int driver_get_capturing(void *stream, int *yes) {
    int status = 0;
    int code = driver.cuStreamIsCapturing(stream, &status);
    if (code == GPU_CAPTURE_IMPLICIT) {
        *yes = 1;
        return GPU_OK;
    }
    *yes = !code && status;
    return code;
}

static int driver_exchange_capture_mode(int *mode) {
    return driver.cuThreadExchangeStreamCaptureMode(mode);
}

static int driver_event_new(void **event) {
    return driver.cuEventCreate(event, 0); /* no flag: with timing */
}

static int driver_event_drop(void *event) {
    return driver.cuEventDestroy(event);
}

static int driver_event_record(void *event, void *stream) {
    return driver.cuEventRecord(event, stream);
}

static int driver_event_query(void *event) {
    return driver.cuEventQuery(event);
}

static int driver_event_wait(void *event) {
    return driver.cuEventSynchronize(event);
}

static int driver_event_elapsed(void *from, void *to, uint64_t *ns) {
    float ms = NAN;
    int code = driver.cuEventElapsedTime(&ms, from, to);
    *ns = 0;
    if (code) {
        return code;
    }
    return gpu_time_ns(ms, ns);
}

/* ---- Tools and devices */

static int driver_capture_start(void) {
    return driver.cuProfilerStart();
}

static int driver_capture_stop(void) {
    return driver.cuProfilerStop();
}

static int driver_get_version(int *out) {
    if (!driver.cuDriverGetVersion) {
        return GPU_UNSUPPORTED;
    }
    return driver.cuDriverGetVersion(out);
}

static int driver_describe_device(int number, struct gpu_device *out) {
    int code = GPU_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    if (driver.cuDeviceGetName) {
        code = driver.cuDeviceGetName(out->name, (int)sizeof out->name, number);
        out->name[sizeof out->name - 1] = '\0';
        if (code) {
            out->name[0] = '\0';
        }
    }
    for (size_t i = 0; i < sizeof driver_attributes / sizeof *driver_attributes; ++i) {
        int value = 0;
        if (!driver.cuDeviceGetAttribute) {
            break;
        }
        int failed = driver.cuDeviceGetAttribute(&value, driver_attributes[i].number, number);
        if (!failed && value > 0) {
            uint32_t known_value = (uint32_t)value;
            memcpy((char *)out + driver_attributes[i].offset, &known_value, sizeof known_value);
            code = GPU_OK;
        }
    }
    return code;
}

static const char *driver_get_code_name(int code) {
    const char *name = cuda_code_name(code);
    if (!name && driver.cuGetErrorName && driver.cuGetErrorName(code, &name)) {
        name = NULL;
    }
    return name;
}

static const struct gpu_ops usable_driver = {
    .name = "driver",
    .words = &cuda_words,
    .context = driver_get_context,
    .primary = driver_get_primary,
    .uninitialized = driver_is_uninitialized,
    .enter = driver_enter_context,
    .leave = driver_leave_context,
    .is_current = driver_context_is_current,
    .exists = driver_context_exists,
    .is_primary = driver_context_is_primary,
    .wait = driver_wait,
    .capturing = driver_get_capturing,
    .capture_mode = driver_exchange_capture_mode,
    .event_new = driver_event_new,
    .event_drop = driver_event_drop,
    .event_record = driver_event_record,
    .event_query = driver_event_query,
    .event_wait = driver_event_wait,
    .event_elapsed = driver_event_elapsed,
    .version = driver_get_version,
    .capture_start = driver_capture_start,
    .capture_stop = driver_capture_stop,
    .device = driver_describe_device,
    .code_name = driver_get_code_name,
    .is_fatal = cuda_code_is_fatal,
};

/* ---- Loading */

static struct gpu_ops refused_driver; /* gpu_none with loaded.reason; written with that */

static int driver_find_symbols(void *library, const char *name, struct loaded *out) {
    for (size_t i = 0; i < sizeof driver_symbols / sizeof *driver_symbols; ++i) {
        const struct driver_symbol *s = &driver_symbols[i];
        void *symbol = dlsym(library, s->names[0]);
        if (!symbol && s->names[1]) {
            symbol = dlsym(library, s->names[1]);
        }
        if (!symbol && s->required) {
            snprintf(out->reason, sizeof out->reason, "the CUDA driver %.150s lacks %s: too old",
                     name, s->names[0]);
            return -1;
        }
        memcpy((char *)&out->functions + s->offset, &symbol, sizeof symbol);
    }
    return 0;
}

/* Whether the dynamic linker, glibc's or musl's, says that the library itself is not there. */
static int driver_is_missing(const char *name, const char *error) {
    static const struct {
        const char *before;
        const char *after;
    } texts[] = {{"", ": cannot open shared object file: No such file or directory"},
                 {"Error loading shared library ", ": No such file or directory"}};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        size_t before = strlen(texts[i].before);
        if (!strncmp(error, texts[i].before, before) && !strncmp(error + before, name, n) &&
            !strcmp(error + before + n, texts[i].after)) {
            return 1;
        }
    }
    return 0;
}

/* The usual case in fewer words than the dynamic linker's. */
static void driver_say_missing(const char *name, const char *error, struct loaded *out) {
    if (driver_is_missing(name, error)) {
        snprintf(out->reason, sizeof out->reason, "no CUDA driver: no %.150s", name);
    } else {
        snprintf(out->reason, sizeof out->reason, "no CUDA driver: %.200s", error);
    }
}

/* The functions of an open library, if it is a usable driver, or the reason why not. */
static void driver_read_library(void *library, const char *name, struct loaded *out) {
    int version;
    void *current;
    int code;
    if (driver_find_symbols(library, name, out)) {
        return;
    }
    if (out->functions.cuDriverGetVersion) {
        code = out->functions.cuDriverGetVersion(&version);
    } else {
        code = out->functions.cuCtxGetCurrent(&current);
    }
    if (code == GPU_STUB) { /* a stub has every symbol, and each returns this */
        snprintf(out->reason, sizeof out->reason, "%.150s is the toolkit's stub, not a driver",
                 name);
    }
}

/* more: a flag of dlopen. */
static void driver_load(const char *name, int more, struct loaded *out) {
    memset(out, 0, sizeof *out); /* with the gaps, for memcmp */
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | more);
    if (!library) {
        const char *error = dlerror();
        driver_say_missing(name, error ? error : "", out);
    } else {
        driver_read_library(library, name, out);
    }
    dlerror(); /* the program's next dlerror() must not report optional symbols */
}

/* Takes what changes: the functions of a usable driver, or else the reason. */
static void driver_take(const struct loaded *fresh) {
    if (fresh->reason[0] && strcmp(loaded.reason, fresh->reason) != 0) {
        memcpy(loaded.reason, fresh->reason, sizeof loaded.reason);
        refused_driver = gpu_none;
        refused_driver.reason = loaded.reason;
        refused_driver.words = &cuda_words;
    }
    if (!fresh->reason[0] &&
        memcmp(&loaded.functions, &fresh->functions, sizeof loaded.functions) != 0) {
        memcpy(&loaded.functions, &fresh->functions, sizeof loaded.functions);
    }
}

static const struct gpu_ops *driver_publish(const struct loaded *fresh) {
    for (int i = 0; __atomic_exchange_n(&publishing, 1, __ATOMIC_ACQUIRE); ++i) {
        if (i == PUBLISH_TRIES) {
            return &gpu_none; /* a fork left it taken */
        }
        sched_yield();
    }
    driver_take(fresh);
    __atomic_store_n(&publishing, 0, __ATOMIC_RELEASE);
    return fresh->reason[0] ? &refused_driver : &usable_driver;
}

static const char *driver_get_name(void) {
    return config.driver_lib ? config.driver_lib : DEFAULT_LIBRARY;
}

/* Loads the library of the setting, for good. Threads may open the same one at once; to open
 * another is for tests, when the first is not in use. */
static const struct gpu_ops *driver_open(void) {
    ERRNO_KEEP;
    struct loaded fresh;
    driver_load(driver_get_name(), 0, &fresh);
    return driver_publish(&fresh);
}

/* Other threads may read the reason of driver_open: it remains. */
static const struct gpu_ops *driver_look(void) {
    ERRNO_KEEP;
    struct loaded fresh;
    driver_load(driver_get_name(), RTLD_NOLOAD, &fresh);
    if (fresh.reason[0]) {
        return NULL;
    }
    const struct gpu_ops *ops = driver_publish(&fresh);
    return ops->reason ? NULL : ops;
}

const struct gpu_backend gpu_driver = {
    .name = "driver", .library = cuda_get_library_part, .open = driver_open, .look = driver_look};
