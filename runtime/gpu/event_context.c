/* SPDX-License-Identifier: Apache-2.0 */
#include "event_pair.h"

#include <stddef.h>

#include "base/scratch.h"

#define CONTEXTS 64
#define PAIRS_PER_PIECE 64u

static struct event_context contexts[CONTEXTS];
static uint32_t context_count;
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
    if (good && !event_pair_is_stale(p)) {
        pair_push(&p->home->free, p);
    } else {
        pair_put_spare(p);
    }
}

void event_context_forget(struct event_context *home) {
    while (home->free) {
        pair_put_spare(pair_pop(&home->free));
    }
    home->context.handle = NULL;
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

/* The place of a context that may be gone, whose pairs are lost; NULL: there is none. */
static struct event_context *context_give_up_doubtful(void) {
    for (uint32_t i = 0; i < context_count; ++i) {
        if (contexts[i].may_be_gone) {
            event_context_forget(&contexts[i]);
            return &contexts[i];
        }
    }
    return NULL;
}

/* Its place, which is taken if need be. NULL: too many contexts at once. */
static struct event_context *context_get(const struct gpu_context *c) {
    struct event_context *unused = NULL;
    for (uint32_t i = 0; i < context_count; ++i) {
        struct event_context *have = &contexts[i];
        if (have->context.handle == c->handle && have->context.gpu == c->gpu) {
            if (have->context.id == c->id) {
                return have;
            }
            event_context_forget(have); /* another one at the same address */
        }
        if (!have->context.handle) {
            unused = have;
        }
    }
    if (!unused && context_count < CONTEXTS) {
        unused = &contexts[context_count++];
    }
    if (!unused) {
        unused = context_give_up_doubtful();
    }
    if (unused) {
        unused->context = *c;
        unused->device = 0;
        unused->described = 0;
        __atomic_store_n(&unused->is_primary, 0, __ATOMIC_RELAXED);
    }
    return unused;
}

struct event_pair *event_pair_get(const struct gpu_context *c) {
    struct event_context *home = context_get(c);
    struct event_pair *p = NULL;
    if (home) {
        home->may_be_gone = 0;
    }
    if (home && home->free) {
        p = pair_pop(&home->free);
    } else if (home) {
        p = pair_get_spare();
    }
    if (p) {
        p->home = home;
        p->context = home->context;
        p->generation = home->generation;
        p->next = NULL;
    }
    return p;
}

int event_context_any(void) {
    return context_count != 0;
}
