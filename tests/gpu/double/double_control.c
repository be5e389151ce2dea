/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions by which a test steers the CUDA driver double: its state, devices, contexts,
 * streams and time, stream capture, and the counts of what was called. They are declared and
 * described in cuda_double.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double_state.h"

/* ---- State */

static void devices_default(void) {
    double_state.devices = DOUBLE_DEVICES;
    static const int known[][2] = {{13, 1980000},  {16, 132}, {36, 3201000}, {37, 6144},
                                   {38, 52428800}, {75, 9},   {76, 0},       {87, 2}};
    for (int d = 0; d < DOUBLE_DEVICES; ++d) {
        memset(double_state.attribute[d], 0, sizeof double_state.attribute[d]);
        for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
            double_state.attribute[d][known[i][0]] = known[i][1];
        }
        snprintf(double_state.name[d], sizeof double_state.name[d], "Double %d", d);
    }
}

static void state_reset(void) {
    struct double_list contexts, streams, events;
    DOUBLE_LOCKED();
    double_list_clear(&double_state.contexts);
    double_list_clear(&double_state.streams);
    double_list_clear(&double_state.events);
    contexts = double_state.contexts, streams = double_state.streams, events = double_state.events;
    uint64_t epoch = double_state.epoch + 1, next_id = double_state.next_id;
    memset(&double_state, 0, sizeof double_state);
    double_state.contexts = contexts;
    double_state.streams = streams;
    double_state.events = events;
    double_state.epoch = epoch;
    double_state.next_id = next_id;
    double_state.version = 13000;
    devices_default();
}

void double_reset(void) {
    state_reset();
    double_calls_clear();
    double_fail(NULL);
    double_hook(NULL, NULL);
}

void double_init_without_context(void) {
    DOUBLE_LOCKED();
    double_state.life = DOUBLE_ALIVE;
}

void double_init(void) {
    double_init_without_context();
    double_context_make_current(double_primary_use(0));
}

void double_shutdown(void) {
    DOUBLE_LOCKED();
    double_state.life = DOUBLE_DEAD;
}

uint64_t double_now(void) {
    DOUBLE_LOCKED();
    return double_state.now;
}

void double_advance(uint64_t ns) {
    DOUBLE_LOCKED();
    double_state.now += ns;
}

void double_tick(uint64_t ns) {
    DOUBLE_LOCKED();
    double_state.tick = ns;
}

__attribute__((constructor(1000))) static void read_environment(void) {
    const char *init = getenv("STINT_DOUBLE_INIT");
    const char *tick = getenv("STINT_DOUBLE_TICK");
    const char *fail = getenv("STINT_DOUBLE_FAIL");
    double_reset();
    if (init && !strcmp(init, "1")) {
        double_init();
    }
    double_tick(tick ? strtoull(tick, NULL, 10) : 0);
    if (double_fail(fail)) {
        fprintf(stderr, "cuda_double: STINT_DOUBLE_FAIL=%s: not function:nth=code,...\n", fail);
        abort();
    }
}

/* ---- Contexts and streams */

static void *context_new(int device) {
    uint32_t number = double_add(&double_state.contexts);
    struct double_context *c = double_context_number(number);
    if (c) {
        c->device = device;
        c->id = ++double_state.next_id;
    }
    return double_handle(DOUBLE_CONTEXT, number);
}

void *double_context_new(int device) {
    DOUBLE_LOCKED();
    return context_new(device);
}

/* Its streams and events are told by their incarnation; only what is counted needs work. */
static void bury(uint32_t number, struct double_context *c) {
    for (uint32_t i = 0; i < double_state.events.count; ++i) {
        const struct double_event *e = (struct double_event *)double_state.events.item + i;
        double_state.events_alive -=
            e->context == number && e->incarnation == c->incarnation && !e->dead;
    }
    for (uint32_t i = 0; i < double_state.streams.count; ++i) {
        struct double_stream *s = (struct double_stream *)double_state.streams.item + i;
        if (s->context == number) {
            double_state.captures -= s->capturing != 0;
            s->capturing = 0;
            s->dead = 1;
        }
    }
    ++c->incarnation;
    c->profiling = 0;
    c->legacy = 0;
    c->per_threads = 0;
}

/* A primary context that is made again has its old address, and another id. */
void double_primary_activate(int device) {
    struct double_context *c = double_context_at(double_state.primary[device], NULL);
    if (!c) {
        double_state.primary[device] = context_new(device);
    } else if (c->dead) {
        c->dead = 0;
        c->id = ++double_state.next_id;
    }
    double_state.active[device] = 1;
}

static void primary_end(int device) {
    uint32_t number;
    struct double_context *c = double_context_at(double_state.primary[device], &number);
    if (c && double_state.active[device]) {
        bury(number, c);
        c->dead = 1;
    }
    double_state.active[device] = 0;
}

void double_primary_release(int device) {
    double_state.retained[device] -= double_state.retained[device] != 0;
    if (!double_state.retained[device]) {
        primary_end(device);
    }
}

void *double_primary_use(int device) {
    DOUBLE_LOCKED();
    double_primary_activate(device);
    ++double_state.retained[device];
    return double_state.primary[device];
}

void double_primary_drop(int device) {
    DOUBLE_LOCKED();
    double_primary_release(device);
}

void double_primary_reset(int device) {
    DOUBLE_LOCKED();
    primary_end(device);
}

uint64_t double_primary_references(int device) {
    DOUBLE_LOCKED();
    return double_state.retained[device];
}

uint64_t double_primaries_made(void) {
    DOUBLE_LOCKED();
    return double_state.primaries_made;
}

void double_context_destroy(void *context) {
    uint32_t number;
    DOUBLE_LOCKED();
    struct double_thread *t = double_self();
    struct double_context *c = double_context_at(context, &number);
    if (c && !c->dead) {
        bury(number, c);
        c->dead = 1;
        t->depth -= t->depth && t->context[t->depth - 1] == context;
    }
}

void double_context_replace(void *context) {
    uint32_t number;
    DOUBLE_LOCKED();
    struct double_context *c = double_context_at(context, &number);
    if (c) {
        bury(number, c);
        c->dead = 0;
        c->id = ++double_state.next_id;
    }
}

void double_context_make_current(void *context) {
    DOUBLE_LOCKED();
    struct double_thread *t = double_self();
    t->depth -= t->depth > 0;
    if (context) {
        t->context[t->depth++] = context;
    }
}

void *double_context_current(void) {
    DOUBLE_LOCKED();
    const struct double_thread *t = double_self();
    return t->depth ? t->context[t->depth - 1] : NULL;
}

static void *stream_new(void *context, int blocking) {
    struct double_context *c;
    uint32_t number = 0, stream = 0;
    DOUBLE_LOCKED();
    c = context ? double_context_at(context, &number) : NULL;
    if (context ? c && !c->dead : !double_current(&c, &number)) {
        stream = double_stream_add(number, blocking);
    }
    return double_handle(DOUBLE_STREAM, stream);
}

void *double_stream_new(void *context) {
    return stream_new(context, 1);
}

void *double_stream_new_nonblocking(void *context) {
    return stream_new(context, 0);
}

void double_stream_destroy(void *stream) {
    DOUBLE_LOCKED();
    struct double_stream *s = double_stream_at(stream, NULL);
    if (s) {
        double_state.captures -= s->capturing != 0;
        s->capturing = 0;
        s->dead = 1;
    }
}

int double_queue(void *stream, uint64_t ns, struct double_span *out) {
    struct double_stream *s;
    DOUBLE_LOCKED();
    int code = double_resolve(stream, &s, &out->stream);
    if (!code && double_legacy(stream) && double_blocked(s->context, 1)) {
        code = 906;
    }
    out->captured = !code && s->capturing;
    if (!code && !s->capturing) {
        uint64_t end = double_end_of(s), earliest = double_state.now + double_world.late;
        out->start = end > earliest ? end : earliest;
        out->end = out->start + ns;
        out->context = s->context;
        out->device = double_context_number(s->context)->device;
        s->end = out->end;
    }
    return code;
}

int double_launch(void *stream, uint64_t ns) {
    struct double_span span;
    return double_queue(stream, ns, &span);
}

uint64_t double_stream_end(void *stream) {
    struct double_stream *s;
    uint32_t number;
    DOUBLE_LOCKED();
    return double_resolve(stream, &s, &number) ? 0 : double_end_of(s);
}

/* ---- Stream capture */

int double_capture_begin(void *stream, int mode) {
    struct double_stream *s;
    uint32_t number;
    DOUBLE_LOCKED();
    int code = double_legacy(stream) ? 900 : double_resolve(stream, &s, &number);
    if (!code && s->capturing) {
        code = 401;
    }
    if (!code) {
        s->capturing = 1;
        s->mode = mode;
        s->thread = double_self()->number;
        ++double_state.captures;
    }
    return code;
}

int double_capture_end(void *stream) {
    struct double_stream *s;
    uint32_t number;
    DOUBLE_LOCKED();
    int code = double_resolve(stream, &s, &number);
    if (!code && !s->capturing) {
        code = 401;
    }
    if (!code) {
        code = s->capturing == 2 ? 901 : 0;
        s->capturing = 0;
        --double_state.captures;
    }
    return code;
}

int double_capture_invalidated(void *stream) {
    struct double_stream *s;
    uint32_t number;
    DOUBLE_LOCKED();
    return !double_resolve(stream, &s, &number) && s->capturing == 2;
}

/* ---- Devices, counts */

void double_device_attribute(int device, int attribute, int value) {
    DOUBLE_LOCKED();
    if (device >= 0 && device < DOUBLE_DEVICES && attribute > 0 && attribute < DOUBLE_ATTRIBUTES) {
        double_state.attribute[device][attribute] = value;
    }
}

void double_device_count(int count) {
    DOUBLE_LOCKED();
    double_state.devices = count;
}

void double_device_name(int device, const char *name) {
    DOUBLE_LOCKED();
    if (device >= 0 && device < DOUBLE_DEVICES) {
        snprintf(double_state.name[device], sizeof double_state.name[device], "%s", name);
    }
}

void double_driver_version(int version) {
    DOUBLE_LOCKED();
    double_state.version = version;
}

static uint64_t counted(const uint64_t *counter) {
    DOUBLE_LOCKED();
    return *counter;
}

uint64_t double_events_alive(void) {
    return counted(&double_state.events_alive);
}

uint64_t double_events_made(void) {
    return counted(&double_state.events_made);
}

uint64_t double_profiler_starts(void) {
    return counted(&double_state.profiler_starts);
}

uint64_t double_profiler_stops(void) {
    return counted(&double_state.profiler_stops);
}

void *double_profiler_context(void) {
    DOUBLE_LOCKED();
    return double_state.profiler_context;
}

int double_profiling(void *context) {
    struct double_context *c;
    uint32_t number;
    DOUBLE_LOCKED();
    c = context ? double_context_at(context, NULL) : NULL;
    int code = context ? (c ? 0 : 201) : double_current(&c, &number);
    return !code && c->profiling;
}
