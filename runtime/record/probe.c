/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

/* The reading at the begin of an open call. */
struct probe_place {
    uint64_t start; /* as in the frame; 0: there is no reading. Written last */
    uint64_t values[PROBE_VALUES];
};

/* Followed by what the probe_calls keep for the thread. */
struct probe_thread {
    struct probe_place places[STINT_IMPL_FRAMES];
};

static const struct probe_ops *probe_calls;
/* Written once, under the registry's lock, before the first node. */
static enum probe_mode probe_wanted;
uint64_t probe_long_from = UINT64_MAX;

void probe_set_ops(const struct probe_ops *list) {
    probe_calls = list;
}

void probe_start(void) {
    probe_wanted = PROBE_OFF;
    if (probe_calls) {
        probe_wanted = probe_calls->open();
    }
    probe_long_from = UINT64_MAX;
    if (probe_wanted == PROBE_LONG) {
        probe_long_from = PROBE_LONG_US * clock_ticks_per_us() / 256;
    }
}

int probe_on(void) {
    return probe_wanted == PROBE_ALL;
}

uint64_t probe_cost(void) {
    if (!probe_wanted) {
        return 0;
    }
    return probe_calls->cost_ticks();
}

static void *probe_state(struct thread_block *b) {
    return b->probe + 1;
}

void probe_add_thread(struct thread_block *b) {
    if (probe_on()) {
        probe_add_long(b);
    }
}

int probe_add_long(struct thread_block *b) {
    if (!b->probe) {
        b->probe = thread_pages_get(b, sizeof *b->probe + probe_calls->thread_bytes);
    }
    return b->probe ? 0 : -1;
}

static int pays_for_readings(uint64_t ticks) {
    if (probe_wanted == PROBE_LONG) {
        return ticks >= probe_long_from && ticks >= probe_calls->cost_ticks() * PROBE_LONG_TIMES;
    }
    return ticks >= probe_calls->cost_ticks() * (100 / PROBE_PERCENT);
}

/* The node's calls are the owner's own; a call that is being written is not counted. */
static uint64_t node_calls(const struct stint_impl_node *n) {
    return STINT_IMPL_LOAD(&n->seq) >> 1;
}

static int is_long_on_average(const struct stint_impl_node *n, uint64_t calls) {
    return pays_for_readings(STINT_IMPL_LOAD(&n->total) / calls);
}

int probe_is_long(const struct stint_impl_node *n) {
    uint64_t calls = node_calls(n);
    return probe_wanted == PROBE_LONG && calls && is_long_on_average(n, calls);
}

int probe_is_settled(const struct stint_impl_node *n) {
    uint64_t calls = node_calls(n);
    return calls >= PROBE_TRIES && !is_long_on_average(n, calls);
}

static struct probe_place *probe_place_of(struct thread_block *b,
                                          const struct stint_impl_frame *f) {
    return &b->probe->places[f - b->frames];
}

int probe_begin(struct thread_block *b, const struct stint_impl_frame *f,
                const struct stint_impl_node *n) {
    uint64_t calls = node_calls(n);
    if (!b->probe || (calls && !is_long_on_average(n, calls))) {
        return 0;
    }
    if (!calls && probe_wanted == PROBE_LONG) {
        return 0;
    }
    struct probe_place *place = probe_place_of(b, f);
    STINT_IMPL_STORE(&place->start, 0); /* of a call that was abandoned */
    return !probe_calls->read(probe_state(b), place->values, PROBE_BEGIN);
}

void probe_began(struct thread_block *b, const struct stint_impl_frame *f, uint64_t start) {
    STINT_IMPL_STORE(&probe_place_of(b, f)->start, start);
}

void probe_end(struct thread_block *b, const struct stint_impl_frame *f, struct stint_impl_node *n,
               uint64_t ticks) {
    if (!b->probe) {
        return;
    }
    struct probe_place *place = probe_place_of(b, f);
    uint64_t start = STINT_IMPL_LOAD(&place->start);
    if (!start || start != STINT_IMPL_LOAD(&f->start)) {
        return;
    }
    STINT_IMPL_STORE(&place->start, 0);
    if (!node_calls(n) && !pays_for_readings(ticks)) {
        return;
    }
    uint64_t values[PROBE_VALUES];
    if (!probe_calls->read(probe_state(b), values, PROBE_END)) {
        probe_calls->add(b, n, place->values, values);
    }
}

void probe_end_thread(struct thread_block *b) {
    if (b->probe) {
        probe_calls->end_thread(probe_state(b));
    }
}

void probe_forget_thread(struct thread_block *b) {
    if (b->probe) {
        probe_calls->forget_thread(probe_state(b));
    }
}
