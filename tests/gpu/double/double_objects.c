/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects of the CUDA driver double: contexts, streams and events by their handles, the calling
 * thread's state, and the rules that all functions share. The caller holds the lock, unless
 * double_state.h says otherwise.
 */
#include "double_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct double_state double_state = {
    .contexts = {.size = sizeof(struct double_context)},
    .streams = {.size = sizeof(struct double_stream)},
    .events = {.size = sizeof(struct double_event)},
};
pthread_mutex_t double_lock = PTHREAD_MUTEX_INITIALIZER;

struct double_world double_world;

static __thread struct double_thread self;
static uint32_t threads;

/* Looks like an address, is not one of the process, nor one of the default streams. */
void *double_handle(enum double_kind kind, uint32_t number) {
    return number ? (void *)((uintptr_t)kind << 44 | (uintptr_t)number << 4) : NULL;
}

static void *item(const struct double_list *list, uint32_t number) {
    uint32_t i = number - list->first - 1;
    return number > list->first && i < list->count ? (char *)list->item + list->size * i : NULL;
}

static void *at(const struct double_list *list, enum double_kind kind, void *handle,
                uint32_t *number) {
    uint32_t n = (uint32_t)((uintptr_t)handle >> 4);
    if (number) {
        *number = n;
    }
    return n && double_handle(kind, n) == handle ? item(list, n) : NULL;
}

struct double_context *double_context_at(void *handle, uint32_t *number) {
    return at(&double_state.contexts, DOUBLE_CONTEXT, handle, number);
}

struct double_context *double_context_number(uint32_t number) {
    return item(&double_state.contexts, number);
}

struct double_stream *double_stream_number(uint32_t number) {
    return item(&double_state.streams, number);
}

static int gone(uint32_t context, uint32_t incarnation) {
    const struct double_context *c = double_context_number(context);
    return !c || c->dead || c->incarnation != incarnation;
}

struct double_stream *double_stream_at(void *handle, uint32_t *number) {
    struct double_stream *s = at(&double_state.streams, DOUBLE_STREAM, handle, number);
    return s && !s->dead && !gone(s->context, s->incarnation) ? s : NULL;
}

struct double_event *double_event_at(void *handle, uint32_t *number) {
    struct double_event *e = at(&double_state.events, DOUBLE_EVENT, handle, number);
    if (!e || e->dead) {
        return NULL;
    }
    if (gone(e->context, e->incarnation)) {
        double_abort("an event of a destroyed context is used: undefined (cuda.h, cuCtxDestroy)");
    }
    return e;
}

pthread_mutex_t *double_take(void) {
    pthread_mutex_lock(&double_lock);
    uint64_t now = double_world.clock ? double_world.clock() : 0;
    if (now > double_state.now) {
        double_state.now = now;
    }
    return &double_lock;
}

void double_wait_until(uint64_t moment) {
    while (double_world.clock && double_state.now < moment) {
        uint64_t ns = moment - double_state.now;
        const struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u),
                                      .tv_nsec = (long)(ns % 1000000000u)};
        pthread_mutex_unlock(&double_lock);
        nanosleep(&left, NULL);
        double_take();
    }
    if (double_state.now < moment) {
        double_state.now = moment;
    }
}

void double_abort(const char *line) {
    fprintf(stderr, "cuda_double: %s\n", line);
    abort();
}

int double_check_context(const struct double_context *c, void *handle) {
    if (!c) {
        return 201;
    }
    if (!c->dead) {
        return 0;
    }
    const struct double_thread *t = double_self();
    if (!t->depth || t->context[t->depth - 1] != handle) {
        double_abort("a destroyed context is used: undefined (cuda.h, cuCtxDestroy)");
    }
    return 709;
}

uint32_t double_add(struct double_list *list) {
    if (list->count == list->room) {
        uint32_t room = list->room ? list->room * 2 : 64;
        void *grown = realloc(list->item, list->size * room);
        if (!grown) {
            return 0;
        }
        list->item = grown;
        list->room = room;
    }
    memset((char *)list->item + list->size * list->count, 0, list->size);
    return list->first + ++list->count;
}

void double_list_clear(struct double_list *list) {
    free(list->item);
    list->item = NULL;
    list->room = 0;
    list->first += list->count;
    list->count = 0;
}

uint32_t double_stream_add(uint32_t context, int blocking) {
    const struct double_context *c = double_context_number(context);
    uint32_t number = double_add(&double_state.streams);
    struct double_stream *s = double_stream_number(number);
    if (s) {
        s->context = context;
        s->incarnation = c->incarnation;
        s->blocking = blocking;
    }
    return number;
}

struct double_thread *double_self(void) {
    if (self.epoch != double_state.epoch) {
        memset(&self, 0, sizeof self);
        self.epoch = double_state.epoch;
    }
    if (!self.number) {
        self.number = ++threads;
    }
    return &self;
}

int double_alive(void) {
    static const int codes[] = {[DOUBLE_UNBORN] = 3, [DOUBLE_ALIVE] = 0, [DOUBLE_DEAD] = 4};
    if (double_world.process && double_world.process != getpid()) {
        return 3;
    }
    return double_state.sticky ? double_state.sticky : codes[double_state.life];
}

int double_current(struct double_context **context, uint32_t *number) {
    const struct double_thread *t = double_self();
    int code = double_alive();
    if (code) {
        return code;
    }
    *context = t->depth ? double_context_at(t->context[t->depth - 1], number) : NULL;
    return !*context ? 201 : (*context)->dead ? 709 : 0;
}

int double_legacy(void *handle) {
    return !handle || handle == (void *)(uintptr_t)1;
}

static uint32_t special(struct double_context *c, uint32_t context, int legacy) {
    uint32_t me = double_self()->number;
    if (legacy) {
        c->legacy = c->legacy ? c->legacy : double_stream_add(context, 0);
        return c->legacy;
    }
    for (uint32_t i = 0; i < c->per_threads; ++i) {
        if (double_stream_number(c->per_thread[i])->thread == me) {
            return c->per_thread[i];
        }
    }
    uint32_t number = c->per_threads < DOUBLE_SPECIAL ? double_stream_add(context, 1) : 0;
    if (number) {
        double_stream_number(number)->thread = me;
        c->per_thread[c->per_threads++] = number;
    }
    return number;
}

int double_resolve(void *handle, struct double_stream **stream, uint32_t *number) {
    struct double_context *c;
    uint32_t context;
    int code = double_alive();
    if (!code && (double_legacy(handle) || handle == (void *)(uintptr_t)2)) {
        code = double_current(&c, &context);
        *number = code ? 0 : special(c, context, double_legacy(handle));
        *stream = double_stream_number(*number);
        return code ? code : *stream ? 0 : 2;
    }
    *stream = code ? NULL : double_stream_at(handle, number);
    return code ? code : *stream ? 0 : 400;
}

/* The legacy stream and the blocking ones of its context wait for each other (cuda.h at
 * CU_STREAM_LEGACY). */
uint64_t double_end_of(const struct double_stream *stream) {
    const struct double_context *c = double_context_number(stream->context);
    const struct double_stream *legacy = double_stream_number(c->legacy);
    uint64_t end = stream->end > double_state.now ? stream->end : double_state.now;
    if (stream == legacy) {
        for (uint32_t i = 0; i < double_state.streams.count; ++i) {
            const struct double_stream *s = (struct double_stream *)double_state.streams.item + i;
            if (s->context == stream->context && s->blocking && !s->dead && s->end > end) {
                end = s->end;
            }
        }
    } else if (legacy && stream->blocking && legacy->end > end) {
        end = legacy->end;
    }
    return end;
}

/* A call spoils the capture. */
static void double_invalidate(struct double_stream *s) {
    double_state.spoilt += s->capturing != 2;
    s->capturing = 2;
}

int double_blocked(uint32_t context, int invalidate) {
    int found = 0;
    for (uint32_t i = 0; double_state.captures && i < double_state.streams.count; ++i) {
        struct double_stream *s = (struct double_stream *)double_state.streams.item + i;
        if (s->context == context && s->blocking && s->capturing) {
            found = 1;
            if (invalidate) {
                double_invalidate(s);
            }
        }
    }
    return found;
}

int double_unsafe(void) {
    const struct double_thread *t = double_self();
    int found = 0;
    if (t->mode == 2) {
        return 0;
    }
    for (uint32_t i = 0; double_state.captures && i < double_state.streams.count; ++i) {
        struct double_stream *s = (struct double_stream *)double_state.streams.item + i;
        int own = s->thread == t->number && s->mode != 2;
        int other = t->mode == 0 && s->mode == 0;
        if (s->capturing && (own || other)) {
            found = 1;
            double_invalidate(s);
        }
    }
    return found ? 900 : 0;
}

int double_conflict(const struct double_stream *only, uint32_t context) {
    int found = 0;
    for (uint32_t i = 0; double_state.captures && i < double_state.streams.count; ++i) {
        struct double_stream *s = (struct double_stream *)double_state.streams.item + i;
        if (s->capturing && s->context == context && (!only || s == only)) {
            found = 1;
            double_invalidate(s);
        }
    }
    return found ? 900 : 0;
}

uint64_t double_end_of_context(uint32_t context) {
    uint64_t end = double_state.now;
    for (uint32_t i = 0; i < double_state.streams.count; ++i) {
        const struct double_stream *s = (struct double_stream *)double_state.streams.item + i;
        if (!s->dead && s->context == context && s->end > end) {
            end = s->end;
        }
    }
    return end;
}
