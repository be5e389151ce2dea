/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the CUPTI double, from their making to their delivery in buffers: in one buffer
 * for all threads or one per thread, complete records only or, forced, all.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_double_state.h"

#define state double_cupti
#define DOUBLE_BUFFERS 256 /* threads with a buffer of their own */
#define EAGER 4096u        /* records that are made until the first of them are written */

/* The records that were made and are not yet in a buffer, in the order of making. */
struct made {
    pthread_t thread;
    uint64_t ready;
    size_t stride;
    int kept;
    unsigned char bytes[DOUBLE_STRIDE];
};
static struct made *made;
static size_t made_count, made_room;

static const size_t strides[DOUBLE_KINDS] = {
    [CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = 216,
    [CUPTI_ACTIVITY_KIND_MEMCPY] = 96,
    [CUPTI_ACTIVITY_KIND_MEMCPY2] = 96,
    [CUPTI_ACTIVITY_KIND_MEMSET] = 88,
    [CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = 56,
    [CUPTI_ACTIVITY_KIND_RUNTIME] = 40,
    [CUPTI_ACTIVITY_KIND_DRIVER] = 40,
    [CUPTI_ACTIVITY_KIND_OVERHEAD] = 56,
    [CUPTI_ACTIVITY_KIND_MEMORY2] = 128,
    [CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = 104,
    [CUPTI_ACTIVITY_KIND_HOST_LAUNCH] = 48,
    [CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE] = 56,
    [39] = 24, /* external correlation: known and never asked for */
};

size_t double_stride_of(uint32_t kind) {
    if (kind >= DOUBLE_KINDS) {
        return 0;
    }
    return state.stride[kind] ? state.stride[kind] : strides[kind];
}

void double_forget(void) {
    made_count = 0;
}

static void hand_over(uint8_t *buffer, size_t size, size_t used) {
    state.complete(NULL, 0, buffer, size, used);
}

static void deliver(void) {
    if (!state.buffer) {
        return;
    }
    if (state.hold && state.held_count < DOUBLE_HELD) {
        state.held[state.held_count].buffer = state.buffer;
        state.held[state.held_count].size = state.size;
        state.held[state.held_count++].used = state.used;
    } else {
        hand_over(state.buffer, state.size, state.used);
    }
    state.buffer = NULL;
}

void double_release(void) {
    while (state.held_count) {
        --state.held_count;
        hand_over(state.held[state.held_count].buffer, state.held[state.held_count].size,
                  state.held[state.held_count].used);
    }
}

/* Room for that many bytes; 0 = refused. */
static int make_room(size_t bytes) {
    size_t most = 0;
    if (state.buffer && state.size - state.used < bytes) {
        deliver();
    }
    if (!state.buffer && state.request) {
        ++state.buffers;
        state.size = 0;
        state.request(&state.buffer, &state.size, &most);
        state.used = 0;
        state.refused += !state.buffer;
    }
    return state.buffer && state.size >= bytes;
}

static void write_out(const struct made *m) {
    if (!make_room(m->stride)) {
        __atomic_fetch_add(&state.dropped, 1, __ATOMIC_RELAXED);
        return;
    }
    memcpy(state.buffer + state.used, m->bytes, m->stride);
    state.used += m->stride;
}

/* Buffers are delivered when they are full of complete records: the first of those that were made,
 * up to one that is not complete. */
static void write_first(void) {
    uint64_t now = double_base();
    size_t count = 0;
    while (count < made_count && made[count].ready <= now) {
        write_out(&made[count++]);
    }
    made_count -= count;
    memmove(made, made + count, made_count * sizeof *made);
}

void double_put(const void *record, size_t size, uint64_t ready) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    if (made_count == made_room) {
        size_t room = made_room ? made_room * 2 : 64;
        struct made *more = realloc(made, room * sizeof *more);
        if (!more) {
            abort();
        }
        made = more;
        made_room = room;
    }
    struct made *m = &made[made_count++];
    memset(m, 0, sizeof *m);
    m->thread = pthread_self();
    m->ready = ready;
    m->stride = double_stride_of(kind);
    memcpy(m->bytes, record, size < m->stride ? size : m->stride);
    if (state.eager && made_count % EAGER == 0) {
        write_first();
    }
}

/* Records of a device have their times at the same place. */
static void forget_times(struct made *m) {
    memset(m->bytes + offsetof(struct cupti_kernel, start), 0, 2 * sizeof(uint64_t));
}

static int shares_buffer(const struct made *a, const struct made *b) {
    return !double_has_thread_buffers() || pthread_equal(a->thread, b->thread);
}

/* A record of each buffer with an incomplete one. */
static const struct made *unfinished[DOUBLE_BUFFERS];
static unsigned unfinished_count;

/* Returns whether a record in the same buffer is incomplete. */
static int is_kept(const struct made *m) {
    for (unsigned i = 0; i < unfinished_count; ++i) {
        if (shares_buffer(unfinished[i], m)) {
            return 1;
        }
    }
    return 0;
}

static void find_unfinished(uint64_t now) {
    unfinished_count = 0;
    for (size_t i = 0; i < made_count; ++i) {
        if (made[i].ready > now && !is_kept(&made[i]) && unfinished_count < DOUBLE_BUFFERS) {
            unfinished[unfinished_count++] = &made[i];
        }
    }
}

static void write_forced(struct made *m, uint64_t now) {
    if (m->ready > now) {
        forget_times(m);
    }
    write_out(m);
}

static void flush_some(int forced, const pthread_t *only) {
    size_t left = 0, count = made_count;
    uint64_t now = double_base();
    unfinished_count = 0;
    if (!forced) {
        find_unfinished(now);
    }
    for (size_t i = 0; i < count; ++i) {
        made[i].kept = (only && !pthread_equal(made[i].thread, *only)) || is_kept(&made[i]);
    }
    for (size_t i = 0; i < count; ++i) {
        if (made[i].kept) {
            made[left++] = made[i];
        } else {
            write_forced(&made[i], now);
        }
    }
    made_count = left;
    deliver();
}

void double_flush(int forced) {
    flush_some(forced, NULL);
}

void double_flush_thread(void) {
    pthread_t self = pthread_self();
    flush_some(0, double_has_thread_buffers() ? &self : NULL);
}
