/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names made at run time. Each thread keeps the last ones it used with their words, so that a known
 * name costs a hash, a compare and then what a literal costs. One name, one site, whichever line of
 * code used it first.
 */
#include "dynamic.h"

#include "base/api.h"
#include "base/errno_keep.h"
#include "interval_sample.h"
#include "recorder.h"
#include "registry.h"
#include "site.h"
#include "system/clock.h"

/* Slots tried before one is given up for a new name: a full table of names then costs the lock and
 * a look-up each time, nothing worse. */
#define WAYS 4

struct dynamic_name {
    uint64_t hash;
    uint64_t word;
    const char *bytes; /* in the arena; NULL for a name that is switched off */
    size_t length;
};

/* The name's word, 0 = not there. Read before and after the comparison: a signal handler may put
 * another name in the slot in between. */
static uint64_t cache_find(const struct thread_block *b, struct site_text name, uint64_t hash) {
    uint32_t gate = registry_gate();
    for (uint64_t way = 0; b->names && way < WAYS; ++way) {
        const struct dynamic_name *n = &b->names[(hash + way) & (THREAD_NAMES - 1)];
        uint64_t word = STINT_IMPL_LOAD(&n->word);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        const char *bytes = STINT_IMPL_LOAD(&n->bytes);
        if (n->hash == hash && n->length == name.length && site_gate_of(word) == gate &&
            (!bytes || site_same(bytes, name.bytes, name.length))) {
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            if (STINT_IMPL_LOAD(&n->word) == word) {
                return word;
            }
            return 0;
        }
    }
    return 0;
}

/* bytes: the name where it stays; NULL for one that is switched off. */
static void cache_put(struct thread_block *b, struct site_text name, uint64_t hash, uint64_t word,
                      const char *bytes) {
    if (!b->names) {
        b->names = thread_pages_get(b, THREAD_NAMES * sizeof *b->names);
    }
    if (!b->names || name.length > ARENA_NAME_BYTES) {
        return;
    }
    uint32_t gate = registry_gate();
    uint64_t way = 0;
    while (way + 1 < WAYS &&
           site_gate_of(b->names[(hash + way) & (THREAD_NAMES - 1)].word) == gate) {
        ++way;
    }
    struct dynamic_name *n = &b->names[(hash + way) & (THREAD_NAMES - 1)];
    n->hash = hash;
    n->word = word;
    n->length = name.length;
    n->bytes = bytes;
}

void dynamic_keep(struct thread_block *b, const char *name, size_t length) {
    struct site_text text = {name, length};
    uint64_t off = (uint64_t)registry_gate() << 32 | STINT_IMPL_SITE_OFF;
    cache_put(b, text, hash_bytes(name, length), off, name);
}

uint64_t dynamic_look_up(const struct thread_block *b, const char *name, size_t length) {
    struct site_text text = {name, length};
    return cache_find(b, text, hash_bytes(name, length));
}

/* The name's word under the current gate; between thread_enter and thread_leave. */
static uint64_t dynamic_word_entered(struct thread_block *b, struct site_text name,
                                     const struct stint_impl_site *place) {
    uint64_t hash = hash_bytes(name.bytes, name.length);
    uint64_t word = cache_find(b, name, hash);
    if (word) {
        return word;
    }
    word = site_resolve_name(name, place);
    uint32_t id = site_id_of(word);
    const char *bytes = NULL;
    if (id) {
        bytes = arena_text_at(arena_site_at(id)->name)->bytes;
    }
    cache_put(b, name, hash, word, bytes);
    return word;
}

static void begin_unknown(uint64_t guard, struct site_text name, struct stint_impl_site *place,
                          uint32_t set, uint64_t start) {
    struct thread_block *b = thread_enter(1);
    if (!b) {
        return;
    }
    int off = 0;
    if (place && site_gate_of(STINT_IMPL_LOAD(&place->word)) != registry_gate()) {
        off = site_is_off(site_resolve_place(place));
    }
    if (!off) {
        uint64_t word = dynamic_word_entered(b, name, place);
        if (!guard) {
            guard = recorder_guard_of_name(site_id_of(word));
        }
        recorder_begin_entered(b, guard, word, set, start);
    }
    thread_leave(b);
}

/* guard 0: a scope opened by name. */
static inline __attribute__((always_inline)) void begin_scope(uint64_t guard, struct site_text name,
                                                              struct stint_impl_site *place,
                                                              uint32_t set, uint64_t start) {
    struct stint_impl_thread *t = stint_impl_thread_here;
    uint64_t word = place ? STINT_IMPL_LOAD(&place->word) : 0;
    if (!place || site_gate_of(word) == registry_gate()) {
        if (place && site_is_off(word)) {
            return;
        }
        struct thread_block *b = thread_here();
        word = b ? cache_find(b, name, hash_bytes(name.bytes, name.length)) : 0;
        uint32_t id = site_id_of(word);
        if (id && !start && guard && !site_is_off(word) &&
            site_gate_of(word) == STINT_IMPL_LOAD(&t->gate) &&
            stint_impl_open_body(t, guard, set, id)) {
            return;
        }
        if (word) {
            if (!guard) {
                guard = recorder_guard_of_name(id);
            }
            recorder_begin(guard, word, set, start);
            return;
        }
    }
    begin_unknown(guard, name, place, set, start);
}

/* length UINT64_MAX: up to the NUL. 0, or -1 for an empty name. */
static int read_name(const char *name, uint64_t length, struct site_text *out) {
    if (!name) {
        return -1;
    }
    out->bytes = name;
    out->length = (size_t)length;
    if (length == UINT64_MAX) {
        out->length = strlen(name);
    }
    if (!out->length) {
        return -1;
    }
    return 0;
}

void dynamic_begin(void *guard, struct stint_impl_site *site, uint32_t set, const char *name,
                   uint64_t length, uint64_t start_us) {
    ERRNO_KEEP;
    *(stint_impl_opened *)guard = 0;
    struct site_text text;
    if (read_name(name, length, &text)) {
        arena_lose(STINT_STATUS_BAD_SAMPLE, 1);
        return;
    }
    uint64_t start = 0;
    if (start_us != UINT64_MAX) {
        start = clock_ticks_at(start_us);
    }
    begin_scope((uint64_t)(uintptr_t)guard, text, site, set, start);
}

/* The word of a name, 0 if it cannot be looked up: counted as n losses. For a name in the thread's
 * cache the slow path is not entered. */
static uint64_t find_word(struct site_text name, uint32_t n) {
    struct thread_block *b = thread_here();
    uint64_t word = 0;
    if (b) {
        word = cache_find(b, name, hash_bytes(name.bytes, name.length));
    }
    if (word) {
        return word;
    }
    b = thread_enter(n);
    if (b) {
        word = dynamic_word_entered(b, name, NULL);
        thread_leave(b);
    }
    return word;
}

uint64_t dynamic_word(const char *name, uint64_t length) {
    struct site_text text;
    if (read_name(name, length, &text)) {
        arena_lose(STINT_STATUS_BAD_SAMPLE, 1);
        return 0;
    }
    return find_word(text, 1);
}

/* As handle_begin. */
void dynamic_begin_handle(uint64_t *handle, const char *name, uint64_t length) {
    ERRNO_KEEP;
    struct site_text text;
    handle[0] = 0;
    if (read_name(name, length, &text)) {
        arena_lose(STINT_STATUS_BAD_SAMPLE, 1);
    } else {
        handle[1] = find_word(text, 1);
        if (!handle[1]) {
            handle[1] = STINT_IMPL_SITE_OFF;
        }
        interval_count_open(handle[1], 1);
        handle[0] = clock_ticks();
    }
}

int dynamic_begin_named(const char *name) {
    ERRNO_KEEP;
    struct site_text text;
    int bad = read_name(name, UINT64_MAX, &text);
    if (bad) {
        arena_lose(STINT_STATUS_BAD_SAMPLE, 1);
    } else {
        begin_scope(0, text, NULL, 0, 0);
    }
    return bad;
}

/* 0, or -1 if no scope of that name is open. */
static inline __attribute__((always_inline)) int end_scope(uint64_t word, uint64_t now) {
    const struct thread_block *b = thread_block_here();
    int result = recorder_end(recorder_guard_of_name(site_id_of(word)), 0, now, NULL);
    if (site_is_off(word) || site_is_unnamed(word) || (b && b->hot.top == b->hot.last)) {
        return 0; /* not recorded, or too deep: its begin said so, or had nothing to say */
    }
    return result;
}

void dynamic_open(uint64_t *scope, const char *name, uint64_t length) {
    ERRNO_KEEP;
    struct site_text text;
    scope[0] = 0;
    if (read_name(name, length, &text)) {
        arena_lose(STINT_STATUS_BAD_SAMPLE, 1);
        return;
    }
    begin_scope(0, text, NULL, 0, 0);
    scope[0] = find_word(text, 0);
    scope[1] = registry_arena_gate();
}

/* In the child of a fork another name may have the number. */
void dynamic_close(uint64_t *scope) {
    ERRNO_KEEP;
    uint64_t now = clock_ticks(), word = scope[0];
    scope[0] = 0;
    if (!word) {
        return;
    }
    if (scope[1] != registry_arena_gate()) {
        arena_lose(STINT_STATUS_ABANDONED, 1);
    } else if (end_scope(word, now)) {
        arena_lose(STINT_STATUS_STRAY_END, 1);
    }
}

int dynamic_end_named(const char *name) {
    ERRNO_KEEP;
    uint64_t now = clock_ticks();
    struct site_text text;
    int result = read_name(name, UINT64_MAX, &text);
    uint64_t word = 0;
    if (!result) {
        word = find_word(text, 0); /* an end alone is not a lost scope */
    }
    if (word) {
        result = end_scope(word, now);
    }
    if (result) {
        arena_lose(STINT_STATUS_STRAY_END, 1);
    }
    return result;
}

int dynamic_add_sample(const char *name, uint64_t ns) {
    ERRNO_KEEP;
    struct site_text text;
    int result = STINT_ERROR_UNKNOWN;
    if (read_name(name, UINT64_MAX, &text)) {
        arena_lose(STINT_STATUS_BAD_SAMPLE, 1);
    } else if (ns > (uint64_t)INT64_MAX) {
        arena_lose(STINT_STATUS_BAD_TIME, 1);
    } else {
        uint64_t word = find_word(text, 1); /* first: before it there may be no clock */
        uint64_t now = clock_ticks();
        result = STINT_ERROR_NOT_AVAILABLE;
        if (word && !interval_sample_add_ns(word, now, ns)) {
            result = STINT_OK;
        }
        if (word) {
            thread_seen(now);
        }
    }
    return result;
}
