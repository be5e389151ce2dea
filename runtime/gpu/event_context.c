/* SPDX-License-Identifier: Apache-2.0 */
#include "event_context.h"

#include <stddef.h>

#include "base/scratch.h"

#define CONTEXTS 64
#define PAIRS_PER_PIECE 64u

static struct event_context contexts[CONTEXTS];
static uint32_t context_count;
static struct event_pair *spare; /* pairs without events */

static void push(struct event_pair **list, struct event_pair *p) {
    p->next = *list;
    *list = p;
}

static struct event_pair *pop(struct event_pair **list) {
    struct event_pair *p = *list;
    *list = p ? p->next : NULL;
    return p;
}

static void put_spare(struct event_pair *p) {
    p->from = p->to = NULL;
    push(&spare, p);
}

void event_pair_put(struct event_pair *p, int good) {
    if (good && !event_pair_is_stale(p)) {
        push(&p->home->free, p);
    } else {
        put_spare(p);
    }
}

void event_context_forget(struct event_context *home) {
    while (home->free) {
        put_spare(pop(&home->free));
    }
    home->context.handle = NULL;
    ++home->generation;
}

static struct event_pair *spare_get(void) {
    if (!spare) {
        struct event_pair *piece = pages_get(PAIRS_PER_PIECE * sizeof *piece);
        for (uint32_t i = 0; piece && i < PAIRS_PER_PIECE; ++i) {
            push(&spare, &piece[i]);
        }
    }
    return pop(&spare);
}

/* NULL: too many at once. */
static struct event_context *find(const struct gpu_context *c) {
    struct event_context *unused = NULL;
    for (uint32_t i = 0; i < context_count; ++i) {
        struct event_context *have = &contexts[i];
        if (have->context.handle == c->handle) {
            if (have->context.id == c->id) {
                return have;
            }
            event_context_forget(have); /* another one at the same address */
        }
        unused = have->context.handle ? unused : have;
    }
    if (!unused && context_count < CONTEXTS) {
        unused = &contexts[context_count++];
    }
    if (unused) {
        unused->context = *c;
        unused->device = 0;
        unused->described = 0;
    }
    return unused;
}

struct event_pair *event_pair_get(const struct gpu_context *c) {
    struct event_context *home = find(c);
    struct event_pair *p = !home ? NULL : home->free ? pop(&home->free) : spare_get();
    if (p) {
        p->home = home;
        p->generation = home->generation;
        p->next = NULL;
    }
    return p;
}

int event_context_any(void) {
    return context_count != 0;
}
