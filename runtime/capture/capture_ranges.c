/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges are identified by address and thread, because a guard's bytes are undefined after a goto
 * or longjmp: a range that begins at the address of another one of its thread replaces that. The
 * child of a fork keeps the parent's ranges: they do not request a capture, but their ends are
 * balanced.
 */
#include "capture_private.h"

#include <string.h>

#include "record/watch.h"

static int range_is_own(const struct capture_ranges *t, const struct capture_range *r) {
    return r->generation == t->generation;
}

int capture_ranges_wanted(const struct capture_ranges *t) {
    for (unsigned i = 0; i < t->count; ++i) {
        if (t->open[i].wanted && range_is_own(t, &t->open[i])) {
            return 1;
        }
    }
    return 0;
}

static const struct capture_range *range_find_of_rule(const struct capture_ranges *t, int rule) {
    for (unsigned i = 0; i < t->count; ++i) {
        if (t->open[i].rule == rule && range_is_own(t, &t->open[i])) {
            return &t->open[i];
        }
    }
    return NULL;
}

/* Whether the rules select an entry of that name. An entry within another one of its rule is part
 * of it. */
static int range_is_selected(const struct capture_ranges *t, const char *name,
                             struct capture_rules *rules, int *first_rule) {
    int selected = !rules->count;
    uint64_t first;
    *first_rule = -1;
    for (unsigned i = 0; i < rules->count; ++i) {
        struct capture_rule *r = &rules->rule[i];
        if (!*r->name || strcmp(r->name, name) != 0) {
            continue;
        }
        if (*first_rule < 0) {
            *first_rule = (int)i;
            const struct capture_range *around = range_find_of_rule(t, (int)i);
            if (around) {
                return around->wanted;
            }
        }
        int slow = *r->scope && watch_take(i);
        selected |= capture_rule_at(r, r->entries++, slow, &first);
    }
    return selected;
}

static struct capture_range *range_find(struct capture_ranges *t, const void *guard) {
    for (struct capture_range *r = t->open + t->count; r-- != t->open;) {
        if (r->guard == guard && (!guard || pthread_equal(r->thread, pthread_self()))) {
            return r;
        }
    }
    return NULL;
}

/* Keeps the order: a stop belongs to the last start. */
static void range_forget(struct capture_ranges *t, struct capture_range *r) {
    --t->count;
    memmove(r, r + 1, (size_t)(t->open + t->count - r) * sizeof *r);
}

static void range_forget_inherited(struct capture_ranges *t) {
    unsigned kept = 0;
    for (unsigned i = 0; i < t->count; ++i) {
        if (range_is_own(t, &t->open[i])) {
            t->open[kept++] = t->open[i];
        }
    }
    t->count = kept;
}

void capture_ranges_open(struct capture_ranges *t, const void *guard, const char *name,
                         struct capture_rules *rules, int wanted) {
    struct capture_range *stale = NULL;
    if (guard) {
        stale = range_find(t, guard);
    }
    if (stale) {
        range_forget(t, stale);
    }
    if (t->count == CAPTURE_RANGES) {
        range_forget_inherited(t);
    }
    if (t->count == CAPTURE_RANGES) {
        ++t->unlisted[!guard];
        return;
    }
    struct capture_range r = {guard, pthread_self(), t->generation, -1, 0};
    r.wanted = range_is_selected(t, name, rules, &r.rule) && wanted;
    t->open[t->count++] = r;
}

int capture_ranges_close(struct capture_ranges *t, const void *guard) {
    struct capture_range *r = NULL;
    if (guard || !t->unlisted[1]) {
        r = range_find(t, guard);
    }
    if (r) {
        range_forget(t, r);
    } else if (t->unlisted[!guard]) {
        --t->unlisted[!guard];
    } else {
        return -1;
    }
    return 0;
}

void capture_ranges_unwant(struct capture_ranges *t) {
    for (unsigned i = 0; i < t->count; ++i) {
        t->open[i].wanted = 0;
    }
}
