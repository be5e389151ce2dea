/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules, each where docs/macros.md or docs/reports.md states it:
 * - A scope is below the innermost one that is open on its thread. A call inside an open call of
 * the same site and set is counted when it ends and not timed; what it opens is below the scope
 * around.
 * - A call that ends without its end, or by another thread, gives no sample and is counted by
 * reason.
 * - The self time of a recorded call is what no other recorded call inside it has. Each call of a
 * recursive scope has its own, also where another scope is between it and the outermost one.
 */
#include "reference.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reference reference = {.enabled = 1};

#define NAME_BYTES 1000

static struct program_name name_of(const char *text) {
    struct program_name n = {text, strlen(text)};
    return n;
}

struct reference_site reference_site(int site) {
    struct reference_site s = {{NULL, 0}, 0};
    if (site < REFERENCE_DYNAMIC) {
        s.name = name_of(program_sites[site].name);
        s.level = program_sites[site].level;
    } else if (site < REFERENCE_DEEP) {
        s.name = program_names[site - REFERENCE_DYNAMIC];
    } else {
        s.name = name_of(program_deep_names[site - REFERENCE_DEEP]);
    }
    s.name.length = s.name.length < NAME_BYTES ? s.name.length : NAME_BYTES;
    return s;
}

/* The names of deep nesting are all different, and no others. */
int reference_name(int site) {
    struct program_name name = reference_site(site).name;
    for (int i = 0; i < site && site < REFERENCE_DEEP; ++i) {
        struct program_name other = reference_site(i).name;
        if (other.length == name.length && !memcmp(other.bytes, name.bytes, name.length)) {
            return i;
        }
    }
    return site;
}

static int path_of(const struct reference_node *n, int self) {
    int above = n->parent == REFERENCE_NONE ? REFERENCE_NONE : reference.node[n->parent].path;
    for (int i = 0; i < self; ++i) {
        const struct reference_node *o = &reference.node[i];
        int other = o->parent == REFERENCE_NONE ? REFERENCE_NONE : reference.node[o->parent].path;
        if (o->name == n->name && o->set == n->set && o->interval == n->interval &&
            other == above) {
            return o->path;
        }
    }
    return self;
}

/* fnmatch takes no NUL; no pattern here tells what is after one. */
static int filter_allows(const struct program_name *name) {
    char list[64], text[NAME_BYTES + 1];
    if (!reference.filter || !*reference.filter) {
        return 1;
    }
    for (size_t i = 0; i < name->length; ++i) {
        text[i] = name->bytes[i] ? name->bytes[i] : '0';
    }
    text[name->length] = '\0';
    snprintf(list, sizeof list, "%s", reference.filter);
    int allowed = list[0] != '+';
    char *rest = list;
    for (char *rule = strtok_r(list, ",", &rest); rule; rule = strtok_r(NULL, ",", &rest)) {
        if (!fnmatch(rule + 1, text, 0)) {
            allowed = *rule == '+';
        }
    }
    return allowed;
}

int reference_on(int site) {
    struct reference_site s = reference_site(site);
    return reference.enabled && s.level <= reference.level && filter_allows(&s.name);
}

void reference_lose(enum reference_loss what) {
    ++reference.lost[what];
}

static void too_large(const char *what) {
    fprintf(stderr, "reference: no room for %s\n", what);
    abort();
}

static int node_get(int recorder, int parent, int site, int set, int interval) {
    for (int i = 0; i < reference.nodes; ++i) {
        const struct reference_node *n = &reference.node[i];
        if (n->recorder == recorder && n->parent == parent && n->site == site && n->set == set &&
            n->interval == interval) {
            return i;
        }
    }
    if (reference.nodes == REFERENCE_NODES) {
        too_large("nodes");
    }
    struct reference_node *n = &reference.node[reference.nodes];
    memset(n, 0, sizeof *n);
    n->recorder = recorder;
    n->parent = parent;
    n->site = site;
    n->set = set;
    n->interval = interval;
    n->name = reference_name(site);
    n->path = path_of(n, reference.nodes);
    return reference.nodes++;
}

static void call_add(int node, uint64_t start, uint64_t ticks, uint64_t nested, const char *info) {
    if (reference.calls == REFERENCE_CALLS) {
        too_large("calls");
    }
    struct reference_call *c = &reference.call[reference.calls++];
    *c = (struct reference_call){node, start, ticks, nested, info, 0};
}

/* The node of the open call of that site and set, or NONE. */
static int open_call(const struct reference_thread *t, int site, int set) {
    for (int i = 0; i < t->depth; ++i) {
        const struct reference_node *n = &reference.node[t->frame[i].node];
        if (!t->frame[i].recursive && n->site == site && n->set == set) {
            return t->frame[i].node;
        }
    }
    return REFERENCE_NONE;
}

static int place_of(const struct reference_thread *t) {
    for (int i = t->depth; i-- > 0;) {
        if (!t->frame[i].recursive) {
            return t->frame[i].node;
        }
    }
    return REFERENCE_NONE;
}

/* Ends a frame. If the call has no sample, the time of recorded calls inside it goes to the scope
 * around. */
static void frame_drop(struct reference_thread *t, uint64_t ticks) {
    --t->depth;
    if (t->depth) {
        t->frame[t->depth - 1].nested += ticks;
    }
}

static void abandon_to(struct reference_thread *t, int depth) {
    while (t->depth > depth) {
        if (!t->frame[t->depth - 1].moved) {
            reference_lose(LOSS_ABANDONED);
            ++reference.node[t->frame[t->depth - 1].node].left;
        }
        frame_drop(t, t->frame[t->depth - 1].nested);
    }
}

static void drop_moved(struct reference_thread *t) {
    while (t->depth && t->frame[t->depth - 1].moved) {
        frame_drop(t, t->frame[t->depth - 1].nested);
    }
}

/* Returns whether the call is directly inside another one of its scope: the two share their
 * time. */
static int frame_continues(const struct reference_thread *t, int at) {
    return t->frame[at].recursive && t->frame[at - 1].node == t->frame[at].node;
}

/* The call around the frame's; NULL: none. */
static const struct reference_frame *frame_around(const struct reference_thread *t, int at) {
    while (--at >= 0) {
        if (!frame_continues(t, at)) {
            return &t->frame[at];
        }
    }
    return NULL;
}

uint64_t reference_open(int thread, uint64_t guard, int site, int set, uint64_t start) {
    struct reference_thread *t = &reference.thread[thread];
    if (!reference_on(site)) {
        return 0;
    }
    ++reference.opened;
    for (int i = 0; i < t->depth && !(guard & REFERENCE_NAMED); ++i) {
        if (t->frame[i].guard == guard) {
            abandon_to(t, i); /* it was left: its place opens again */
        }
    }
    drop_moved(t);
    int outer = open_call(t, site, set);
    if (t->depth == REFERENCE_DEPTH) {
        if (outer == REFERENCE_NONE) {
            reference_lose(LOSS_TOO_DEEP);
        } else {
            ++reference.node[outer].recursions;
        }
        return 0;
    }
    struct reference_frame *f = &t->frame[t->depth];
    f->guard = guard;
    f->opening = ++reference.openings;
    f->moved = 0;
    f->recursive = outer != REFERENCE_NONE;
    f->node = f->recursive ? outer : node_get(t->recorder, place_of(t), site, set, 0);
    const struct reference_frame *around = frame_around(t, t->depth);
    f->start = start ? start : reference.now;
    f->sooner = around && (start || f->recursive) && f->start < around->start;
    f->nested = 0;
    ++t->depth;
    return f->opening;
}

/* The part of a call that lies in the one around it: it may have been started earlier. */
static uint64_t ticks_within(const struct reference_thread *t, int at) {
    const struct reference_frame *f = &t->frame[at], *around = frame_around(t, at);
    if (f->sooner && around->start <= reference.now) {
        return reference.now - around->start;
    }
    return reference.now - f->start;
}

static void frame_end(struct reference_thread *t, int at, const char *info) {
    abandon_to(t, at + 1);
    struct reference_frame *f = &t->frame[at];
    if (f->recursive) {
        ++reference.node[f->node].recursions;
        if (reference.now < f->start || frame_continues(t, at)) {
            frame_drop(t, f->nested);
        } else {
            reference.node[f->node].inner += ticks_within(t, at) - f->nested;
            frame_drop(t, ticks_within(t, at));
        }
    } else if (reference.now < f->start) {
        reference_lose(LOSS_CLOCK_BACK);
        frame_drop(t, f->nested);
    } else {
        call_add(f->node, f->start, reference.now - f->start, f->nested, info);
        frame_drop(t, ticks_within(t, at));
    }
    drop_moved(t);
}

/* Takes a frame out. If it is not the innermost, it stays until the calls inside it have ended. */
static void frame_take(struct reference_thread *t, int at) {
    reference_lose(LOSS_OTHER_THREAD);
    t->frame[at].moved = 1;
    t->frame[at].guard = 0;
    drop_moved(t);
}

void reference_close(int thread, uint64_t guard, uint64_t opening, const char *info) {
    if (!opening) {
        return;
    }
    for (int k = 0; k < PROGRAM_THREADS; ++k) {
        struct reference_thread *t = &reference.thread[k];
        for (int i = t->depth; i-- > 0;) {
            if (t->frame[i].guard == guard && t->frame[i].opening == opening) {
                if (k == thread) {
                    frame_end(t, i, info);
                } else {
                    frame_take(t, i);
                }
                return;
            }
        }
    }
}

int reference_end_named(int thread, int site) {
    struct reference_thread *t = &reference.thread[thread];
    for (int i = t->depth; i-- > 0;) {
        if (t->frame[i].guard == (REFERENCE_NAMED | (uint64_t)site)) {
            frame_end(t, i, NULL);
            return 0;
        }
    }
    if (!reference_on(site)) {
        return 0;
    }
    reference_lose(LOSS_STRAY_END);
    return -1;
}

void reference_interval(int thread, int site, uint64_t start, uint64_t ticks) {
    int node = node_get(reference.thread[thread].recorder, REFERENCE_NONE, site, 0, 1);
    call_add(node, start, ticks, 0, NULL);
}

void reference_work(int thread, uint64_t bytes, uint64_t flops) {
    struct reference_thread *t = &reference.thread[thread];
    if (t->depth) {
        struct reference_node *n = &reference.node[t->frame[t->depth - 1].node];
        n->bytes += bytes;
        n->flops += flops;
    } else if (reference.enabled) {
        reference_lose(LOSS_NO_SCOPE);
    }
}

void reference_reset(int set) {
    for (int i = 0; i < reference.calls; ++i) {
        struct reference_call *c = &reference.call[i];
        c->old |= set == PROGRAM_SETS || reference.node[c->node].set == set;
        reference.node[c->node].had_calls |= c->old;
    }
    for (int i = 0; i < reference.nodes; ++i) {
        struct reference_node *n = &reference.node[i];
        if (set == PROGRAM_SETS || n->set == set) {
            n->old_recursions = n->recursions;
            n->old_left = n->left;
            n->old_inner = n->inner;
            n->old_bytes = n->bytes;
            n->old_flops = n->flops;
            n->reset = 1;
            n->reset_at = reference.now;
        }
    }
    reference.interval = set == PROGRAM_SETS ? reference.now : reference.interval;
}

void reference_thread_end(int thread) {
    abandon_to(&reference.thread[thread], 0);
    reference.thread[thread].recorder = REFERENCE_NONE;
}
