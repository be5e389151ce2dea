/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA driver, found at run time: no header and no library of CUDA's is needed to build.
 *
 * A library that was opened stays open, also when it is of no use: others may have it too, and it is
 * not known to survive its unloading. With a driver that nobody initialised all calls return 3.
 */
#include "gpu_driver.h"

#include <dlfcn.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_keep.h"
#include "cuda_codes.h"

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
#define PUBLISH_TRIES 10000 /* to wait for a copy of some 500 bytes, with no call out */

struct loaded {
    struct driver functions;
    struct gpu_ops ops;
    char reason[240]; /* "" = usable */
};

/* What the ops call. Written under `publishing`, and only where that changes something: by the first
 * thread that looks, before anybody has the ops. */
static struct loaded loaded;
static int publishing;
#define driver (loaded.functions)

/* ---- Contexts ----------------------------------------------------------------------------------*/

/* Context ids are never used twice, so what is known of one stays true: id << 16 | device + 1 in
 * one word, read and written whole. A collision costs asking again. */
#define KNOWN 64
static uint64_t known[KNOWN];

static int is_current(const void *context) {
    void *now = NULL;
    return !driver.cuCtxGetCurrent(&now) && now == context;
}

static int enter(const struct gpu_context *c) {
    if (driver.cuCtxPushCurrent && driver.cuCtxPopCurrent) {
        return driver.cuCtxPushCurrent(c->handle);
    }
    return is_current(c->handle) ? GPU_OK : GPU_UNSUPPORTED;
}

static void leave(const struct gpu_context *c) {
    void *popped;
    (void)c;
    if (driver.cuCtxPushCurrent && driver.cuCtxPopCurrent) {
        driver.cuCtxPopCurrent(&popped);
    }
}

/* -1: it cannot be known. */
static int device_of(const struct gpu_context *c) {
    int device = -1;
    int pushed = 0;
    if (!driver.cuCtxGetDevice) {
        return -1;
    }
    if (!is_current(c->handle)) {
        if (enter(c)) {
            return -1;
        }
        pushed = 1;
    }
    if (driver.cuCtxGetDevice(&device)) {
        device = -1;
    }
    if (pushed) {
        leave(c);
    }
    return device;
}

static int known_device_of(const struct gpu_context *c) {
    uint64_t *word = &known[c->id % KNOWN];
    uint64_t have = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (c->id && have >> 16 == c->id) {
        return (int)(have & 0xffff) - 1;
    }
    int device = device_of(c);
    if (c->id && c->id >> 48 == 0 && device >= 0 && device < 0xffff) {
        __atomic_store_n(word, c->id << 16 | ((uint64_t)device + 1), __ATOMIC_RELAXED);
    }
    return device;
}

static int is_special(const void *stream) {
    return !stream || stream == GPU_STREAM_LEGACY || stream == GPU_STREAM_PER_THREAD;
}

static int context(void *stream, struct gpu_context *out) {
    unsigned long long id = 0;
    int code = GPU_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    out->device = -1;
    if (!is_special(stream) && driver.cuStreamGetCtx) {
        code = driver.cuStreamGetCtx(stream, &out->handle);
    }
    if (code == GPU_UNSUPPORTED) {
        code = driver.cuCtxGetCurrent(&out->handle);
    }
    if (!code && !out->handle) {
        code = GPU_INVALID_CONTEXT;
    }
    if (!code && driver.cuCtxGetId) {
        code = driver.cuCtxGetId(out->handle, &id);
    }
    if (!code) {
        out->id = id;
        out->device = known_device_of(out);
    }
    return code;
}

/* ---- Streams and events ------------------------------------------------------------------------*/

static int capturing(void *stream, int *yes) {
    int status = 0;
    int code = driver.cuStreamIsCapturing(stream, &status);
    if (code == GPU_CAPTURE_IMPLICIT) {
        *yes = 1;
        return GPU_OK;
    }
    *yes = !code && status;
    return code;
}

static int capture_mode(int *mode) {
    return driver.cuThreadExchangeStreamCaptureMode(mode);
}

static int event_new(void **event) {
    return driver.cuEventCreate(event, 0); /* no flag: with timing */
}

static int event_drop(void *event) {
    return driver.cuEventDestroy(event);
}

static int event_record(void *event, void *stream) {
    return driver.cuEventRecord(event, stream);
}

static int event_query(void *event) {
    return driver.cuEventQuery(event);
}

static int event_wait(void *event) {
    return driver.cuEventSynchronize(event);
}

static int event_elapsed(void *from, void *to, uint64_t *ns) {
    float ms = NAN;
    int code = driver.cuEventElapsedTime(&ms, from, to);
    *ns = 0;
    return code ? code : gpu_time_ns(ms, ns);
}

/* ---- Tools and devices -------------------------------------------------------------------------*/

static int capture_start(void) {
    return driver.cuProfilerStart();
}

static int capture_stop(void) {
    return driver.cuProfilerStop();
}

static int device(int number, struct gpu_device *out) {
    int code = GPU_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    if (driver.cuDeviceGetName) {
        code = driver.cuDeviceGetName(out->name, (int)sizeof out->name, number);
        out->name[code ? 0 : sizeof out->name - 1] = '\0';
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

static const char *code_name(int code) {
    const char *name = cuda_code_name(code);
    if (!name && driver.cuGetErrorName && driver.cuGetErrorName(code, &name)) {
        name = NULL;
    }
    return name;
}

static const struct gpu_ops usable = {
    .name = "driver",
    .context = context,
    .enter = enter,
    .leave = leave,
    .capturing = capturing,
    .capture_mode = capture_mode,
    .event_new = event_new,
    .event_drop = event_drop,
    .event_record = event_record,
    .event_query = event_query,
    .event_wait = event_wait,
    .event_elapsed = event_elapsed,
    .capture_start = capture_start,
    .capture_stop = capture_stop,
    .device = device,
    .code_name = code_name,
    .is_fatal = cuda_code_is_fatal,
};

/* ---- Loading -----------------------------------------------------------------------------------*/

static int find_symbols(void *library, const char *name, struct loaded *out) {
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
static int is_not_there(const char *name, const char *error) {
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

/* The usual case is worth fewer words than the dynamic linker makes of it. */
static void say_missing(const char *name, const char *error, struct loaded *out) {
    if (is_not_there(name, error)) {
        snprintf(out->reason, sizeof out->reason, "no CUDA driver: no %.150s", name);
    } else {
        snprintf(out->reason, sizeof out->reason, "no CUDA driver: %.200s", error);
    }
}

static void load(const char *name, struct loaded *out) {
    memset(out, 0, sizeof *out); /* with the gaps, for memcmp */
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    const char *error = library ? NULL : dlerror();
    if (!library) {
        say_missing(name, error ? error : "", out);
    } else if (!find_symbols(library, name, out)) {
        int version;
        void *current;
        int code = out->functions.cuDriverGetVersion ? out->functions.cuDriverGetVersion(&version)
                                                     : out->functions.cuCtxGetCurrent(&current);
        if (code == GPU_STUB) { /* it has every symbol, and each returns this */
            snprintf(out->reason, sizeof out->reason, "%.150s is the toolkit's stub, not a driver",
                     name);
        }
    }
    dlerror(); /* the program's next dlerror() is not to be about our optional symbols */
}

static const struct gpu_ops *publish(const struct loaded *fresh) {
    for (int i = 0; __atomic_exchange_n(&publishing, 1, __ATOMIC_ACQUIRE); ++i) {
        if (i == PUBLISH_TRIES) {
            return &gpu_none; /* a fork left it taken */
        }
        sched_yield();
    }
    if (memcmp(&loaded, fresh, sizeof loaded)) {
        memcpy(&loaded, fresh, sizeof loaded);
    }
    __atomic_store_n(&publishing, 0, __ATOMIC_RELEASE);
    return &loaded.ops;
}

/* Loads the library (NULL: libcuda.so.1), for good. Threads may open the same one at once; to open
 * another is for tests, when the first is not in use. */
static const struct gpu_ops *open_driver(const char *library) {
    ERRNO_KEEP;
    struct loaded fresh;
    load(library ? library : DEFAULT_LIBRARY, &fresh);
    fresh.ops = usable;
    if (fresh.reason[0]) {
        fresh.ops = gpu_none;
        fresh.ops.reason = loaded.reason;
    }
    return publish(&fresh);
}

const struct gpu_backend gpu_driver = {
    .name = "driver", .library = "/libcuda.so", .open = open_driver};
