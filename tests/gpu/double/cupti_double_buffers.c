/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The double's records: from when they are made until they are delivered in buffers.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_double_state.h"

#define state double_cupti

/* Made and not yet in a buffer, in the order of making. */
struct made {
    uint64_t ready;
    size_t stride;
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
    m->ready = ready;
    m->stride = double_stride_of(kind);
    memcpy(m->bytes, record, size < m->stride ? size : m->stride);
}

/* Records of a device have their times at the same place. */
static void forget_times(struct made *m) {
    memset(m->bytes + offsetof(struct cupti_kernel, start), 0, 2 * sizeof(uint64_t));
}

void double_flush(int forced) {
    size_t incomplete = 0;
    uint64_t now = double_base();
    for (size_t i = 0; i < made_count; ++i) {
        if (made[i].ready > now) {
            ++incomplete;
            if (forced) {
                forget_times(&made[i]);
            }
        }
    }
    if (incomplete && !forced) {
        return;
    }
    for (size_t i = 0; i < made_count; ++i) {
        write_out(&made[i]);
    }
    made_count = 0;
    deliver();
}
