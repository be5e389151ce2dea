/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of contexts with GPU scopes, and the pairs of events of each that are unused. Called by
 * the event pool under its lock. A pair belongs to the context that had its place when it was
 * taken: once that has lost the place, the pair is stale, and its events are not used again.
 */
#include "event_pair.h"

#include <stddef.h>

#include "base/scratch.h"

#define CONTEXTS 1024 /* more than a machine's GPUs have memory for */
#define PAIRS_PER_PIECE 64u

static struct event_context contexts[CONTEXTS];
static uint32_t context_count;
static uint64_t moment;          /* one more with each pair that is taken */
static struct event_pair *spare; /* pairs without events */

static void pair_push(struct event_pair **list, struct event_pair *p) {
    p->next = *list;
    *list = p;
}

static struct event_pair *pair_pop(struct event_pair **list) {
    struct event_pair *p = *list;
    if (p) {
        *list = p->next;
    }
    return p;
}

static void pair_put_spare(struct event_pair *p) {
    p->from = p->to = NULL;
    pair_push(&spare, p);
}

void event_pair_put(struct event_pair *p, int good) {
    if (!event_pair_is_stale(p)) {
        --p->home->in_use;
    }
    int usable = good || p->context.gpu->event_clear;
    if (usable && !event_pair_is_stale(p)) {
        pair_push(&p->home->free, p);
    } else {
        pair_put_spare(p);
    }
}

void event_context_forget(struct event_context *home) {
    event_queue_put_back(home);
    while (home->free) {
        pair_put_spare(pair_pop(&home->free));
    }
    home->context.handle = NULL;
    home->in_use = 0;
    home->may_be_gone = 0;
    __atomic_store_n(&home->generation, home->generation + 1, __ATOMIC_RELAXED);
}

static struct event_pair *pair_get_spare(void) {
    if (!spare) {
        struct event_pair *piece = pages_get(PAIRS_PER_PIECE * sizeof *piece);
        for (uint32_t i = 0; piece && i < PAIRS_PER_PIECE; ++i) {
            pair_push(&spare, &piece[i]);
        }
    }
    return pair_pop(&spare);
}

/* Takes its place away from the context that was used least recently. Contexts with pairs in use
 * keep theirs, unless they may be gone: such pairs are lost. A program that has had so many has
 * mostly destroyed that one; if it exists, its unused events stay until it is destroyed. Returns
 * the place, NULL: there is none. */
static struct event_context *context_give_up(void) {
    struct event_context *oldest = NULL;
    for (uint32_t i = 0; i < context_count; ++i) {
        struct event_context *have = &contexts[i];
        int can_go = !have->in_use || have->may_be_gone;
        if (can_go && (!oldest || have->used_at < oldest->used_at)) {
            oldest = have;
        }
    }
    if (oldest) {
        event_context_forget(oldest);
    }
    return oldest;
}

/* Its place, NULL: it has none. If another one was at the same address, its place is now unused. */
static struct event_context *context_find(const struct gpu_context *c) {
    for (uint32_t i = 0; i < context_count; ++i) {
        struct event_context *have = &contexts[i];
        if (have->context.handle == c->handle && have->context.gpu == c->gpu) {
            if (have->context.id == c->id) {
                return have;
            }
            event_context_forget(have);
        }
    }
    return NULL;
}

static struct event_context *context_find_unused(void) {
    for (uint32_t i = 0; i < context_count; ++i) {
        if (!contexts[i].context.handle) {
            return &contexts[i];
        }
    }
    return NULL;
}

/* NULL: too many contexts are in use at once. */
static struct event_context *context_take_place(const struct gpu_context *c) {
    struct event_context *place = context_find_unused();
    if (!place && context_count < CONTEXTS) {
        place = &contexts[context_count++];
    }
    if (!place) {
        place = context_give_up();
    }
    if (place) {
        place->context = *c;
        place->device = 0;
        place->described = 0;
        __atomic_store_n(&place->is_primary, 0, __ATOMIC_RELAXED);
    }
    return place;
}

struct event_pair *event_pair_get(const struct gpu_context *c) {
    struct event_context *home = context_find(c);
    struct event_pair *p = NULL;
    if (!home) {
        home = context_take_place(c);
    }
    if (home && home->free) {
        p = pair_pop(&home->free);
    } else if (home) {
        p = pair_get_spare();
    }
    if (p) {
        ++home->in_use;
        home->used_at = ++moment;
        p->home = home;
        p->context = home->context;
        p->generation = home->generation;
        p->next = NULL;
    }
    return p;
}

struct event_context *event_context_at(uint32_t i) {
    return i < context_count ? &contexts[i] : NULL;
}

int event_context_any(void) {
    return context_count != 0;
}
