/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects libstint-mem.so, if it is there, with the arena, and makes the places of a node's
 * numbers. libstint-mem.so connects from its constructor, which runs after this library's and
 * before the program's; the registry starts it with each arena and stops it in the child of a fork.
 * Its calls come from inside malloc and in signal handlers: nothing here waits or allocates.
 */
#include "allocations.h"

#include "measured.h"
#include "registry.h"
#include "system/config.h"
#include "system/log.h"
#include "thread.h"
#include "tree.h"

/* NULL: libstint-mem.so is not there. Written by its constructor; atomic. */
static const struct memory_ops *memory_ops;
static int memory_said; /* under the registry's lock, as all below */
static const struct memory_ops *memory_started;

/* One line if memory was to be counted and is not. */
static void memory_say(const struct memory_ops *ops) {
    if (memory_said) {
        return;
    }
#ifndef STINT_STATIC
    if (!ops && &stint_impl_memory_library) {
        return; /* its constructor runs after this library's, and will connect it */
    }
#endif
    memory_said = 1;
    if (ops && *ops->rival) {
        log_warning("memory is not counted: the program's malloc is that of %s", ops->rival);
        return;
    }
    if (ops || config.mem != CONFIG_MEM_ON) {
        return;
    }
#ifdef STINT_STATIC
    log_warning("STINT_MEM=1: memory is not counted: this program is linked with libstint.a; "
                "libstint-mem.so needs libstint.so");
#else
    log_warning(
        "STINT_MEM=1: memory is not counted: libstint-mem.so is not loaded; run the program by "
        "`stint run --mem`, or link it with stint::mem");
#endif
}

/* The counts of threads that have no recorder, in the arena; NULL without memory. */
static struct memory_scope *memory_outside(void) {
    uint32_t unit = arena_get(sizeof(struct memory_scope), ARENA_RECORD);
    if (!unit) {
        return NULL;
    }
    struct memory_scope *m = arena_at(unit);
    m->range = measure_range_of(MEASURE_GROUP_MEMORY);
    STINT_IMPL_PUBLISH(&arena_header()->outside, unit);
    return m;
}

void memory_start(void) {
    const struct memory_ops *ops = __atomic_load_n(&memory_ops, __ATOMIC_ACQUIRE);
    if (memory_started) {
        return;
    }
    if (ops && config.mem == CONFIG_MEM_OFF) {
        ops->stop();
        return;
    }
    memory_say(ops);
    if (!ops) {
        return;
    }
    if (*ops->rival) {
        ops->stop();
        return;
    }
    memory_started = ops;
    ops->start(arena.base, memory_outside(), config.mem_table);
}

void memory_connect(const struct memory_ops *ops) {
    __atomic_store_n(&memory_ops, ops, __ATOMIC_RELEASE);
    if (arena.base) { /* the constructor of another library has opened a scope */
        registry_lock();
        memory_start();
        registry_unlock();
    }
}

void memory_forget(void) {
    const struct memory_ops *ops = memory_started;
    memory_started = NULL;
    if (ops) {
        ops->forget();
    }
}

/* ---- The places of a node's numbers. */

/* NULL without memory. */
static struct memory_scope *memory_scope_of(struct thread_block *b, struct stint_impl_node *n) {
    return (struct memory_scope *)(void *)measured_get_with(
        b, n, MEASURE_GROUP_MEMORY,
        sizeof(struct memory_scope) - offsetof(struct memory_scope, held_with));
}

static uint32_t memory_unit(const struct thread_block *b, const void *of) {
    return (uint32_t)((uint64_t)((const char *)of - b->hot.base) / STINT_IMPL_UNIT);
}

/* From the node up to the first that has its place already. */
static struct memory_scope *memory_scopes_make(struct thread_block *b, uint32_t node) {
    struct memory_scope *first = NULL, *below = NULL;
    while (node) {
        struct stint_impl_node *n = tree_node(b, node);
        int is_new = !memory_scope_find(b->hot.base, n->measures);
        struct memory_scope *m = memory_scope_of(b, n);
        if (m && is_new) {
            m->owner = memory_unit(b, b->record);
        }
        if (!first) {
            first = m;
        }
        if (below && m) {
            below->around = memory_unit(b, m);
        }
        if (!m || !is_new) {
            break;
        }
        below = m;
        node = n->parent;
    }
    return first;
}

struct memory_scope *memory_scope_get(void) {
    if (!thread_here()) {
        return NULL;
    }
    struct thread_block *b = thread_enter(0);
    if (!b) {
        return NULL;
    }
    const struct stint_impl_frame *f = thread_innermost(b);
    uint32_t node = b->record->root;
    if (f) {
        node = STINT_IMPL_LOAD(&f->node);
    }
    if (f && STINT_IMPL_LOAD(&f->recursive)) {
        node = STINT_IMPL_LOAD(&f->recursive);
    }
    struct memory_scope *m = memory_scopes_make(b, node);
    thread_leave(b);
    return m;
}
