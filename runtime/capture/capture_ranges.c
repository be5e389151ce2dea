/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges are kept by address and thread, because a guard's bytes mean nothing after a goto or
 * longjmp: a range begun again at its own address replaces the stale one. A child of a fork keeps
 * the parent's: they are not its own, but their ends are nothing to complain of.
 */
#include "capture_ranges.h"

#include <string.h>

#include "record/watch.h"

static int is_own(const struct capture_ranges *t, const struct capture_range *r) {
    return r->generation == t->generation;
}

int ranges_wanted(const struct capture_ranges *t) {
    for (unsigned i = 0; i < t->count; ++i) {
        if (t->open[i].wanted && is_own(t, &t->open[i])) {
            return 1;
        }
    }
    return 0;
}

static const struct capture_range *find_rule(const struct capture_ranges *t, int rule) {
    for (unsigned i = 0; i < t->count; ++i) {
        if (t->open[i].rule == rule && is_own(t, &t->open[i])) {
            return &t->open[i];
        }
    }
    return NULL;
}

/* Whether the rules take an entry of that name. One inside an open entry is part of it. */
static int is_selected(const struct capture_ranges *t, const char *name,
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
            const struct capture_range *around = find_rule(t, (int)i);
            if (around) {
                return around->wanted;
            }
        }
        int slow = *r->scope && watch_take(i);
        selected |= capture_rule_at(r, r->entries++, slow, &first);
    }
    return selected;
}

static struct capture_range *find(struct capture_ranges *t, const void *guard) {
    for (struct capture_range *r = t->open + t->count; r-- != t->open;) {
        if (r->guard == guard && (!guard || pthread_equal(r->thread, pthread_self()))) {
            return r;
        }
    }
    return NULL;
}

/* In order: a stop belongs to the last start. */
static void forget(struct capture_ranges *t, struct capture_range *r) {
    --t->count;
    memmove(r, r + 1, (size_t)(t->open + t->count - r) * sizeof *r);
}

static void forget_inherited(struct capture_ranges *t) {
    unsigned kept = 0;
    for (unsigned i = 0; i < t->count; ++i) {
        if (is_own(t, &t->open[i])) {
            t->open[kept++] = t->open[i];
        }
    }
    t->count = kept;
}

void ranges_open(struct capture_ranges *t, const void *guard, const char *name,
                 struct capture_rules *rules, int wanted) {
    struct capture_range *stale = guard ? find(t, guard) : NULL;
    if (stale) {
        forget(t, stale);
    }
    if (t->count == CAPTURE_RANGES) {
        forget_inherited(t);
    }
    if (t->count == CAPTURE_RANGES) {
        ++t->unlisted[!guard];
        return;
    }
    struct capture_range r = {guard, pthread_self(), t->generation, -1, 0};
    r.wanted = is_selected(t, name, rules, &r.rule) && wanted;
    t->open[t->count++] = r;
}

int ranges_close(struct capture_ranges *t, const void *guard) {
    struct capture_range *r = !guard && t->unlisted[1] ? NULL : find(t, guard);
    if (r) {
        forget(t, r);
    } else if (t->unlisted[!guard]) {
        --t->unlisted[!guard];
    } else {
        return -1;
    }
    return 0;
}

void ranges_unwant(struct capture_ranges *t) {
    for (unsigned i = 0; i < t->count; ++i) {
        t->open[i].wanted = 0;
    }
}
