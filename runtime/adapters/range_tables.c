/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - Domains and texts are taken by an atomic addition. A domain's name is written last: a reader
 *   that does not see it yet makes another entry of the same name, which has the same set.
 * - A category's key is written first, by compare and exchange, its set after it: until then it is
 *   that of the domain.
 * - The state of a started range is odd while it is open, and grows: it is part of the number, so
 *   that a second end of a range, or one of a number that was made up, finds another state.
 */
#include "range_tables.h"

#include <stdio.h>
#include <string.h>

#define LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

const struct range_domain range_default_domain;
static const struct range_domain lost_domain = {NULL, NULL, RANGE_DOMAIN_LOST};

/* ---- Texts. */

static struct {
    _Alignas(8) char bytes[RANGE_TEXT_BYTES];
    uint64_t used; /* atomic; stays where it was refused */
} range_texts;

const struct range_text *range_text_keep(struct range_name name) {
    uint64_t length = name.length;
    if (length > RANGE_NAME_BYTES + 1) { /* one more: stint counts it as cut */
        length = RANGE_NAME_BYTES + 1;
    }
    uint64_t want = (sizeof(struct range_text) + length + 7) & ~(uint64_t)7;
    uint64_t used = LOAD(&range_texts.used);
    do {
        if (want > RANGE_TEXT_BYTES - used) {
            stint_impl_lose_range();
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&range_texts.used, &used, used + want, 1,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    struct range_text *text = (struct range_text *)(void *)(range_texts.bytes + used);
    text->length = length;
    memcpy(text->bytes, name.bytes, length);
    return text;
}

static int is_text_of(const struct range_text *text, struct range_name name) {
    return text->length == name.length && !memcmp(text->bytes, name.bytes, name.length);
}

/* ---- Domains. */

static struct range_domain range_domains[RANGE_DOMAINS];
static uint32_t domain_count; /* atomic; may be more */

static const stint_set *set_of_name(struct range_name name, const struct range_text *around) {
    char text[RANGE_NAME_BYTES + 8]; /* a longer name is cut */
    int length = (int)name.length;
    if (around) {
        snprintf(text, sizeof text, "%.*s/%.*s", (int)around->length, around->bytes, length,
                 name.bytes);
    } else {
        snprintf(text, sizeof text, "%.*s", length, name.bytes);
    }
    return stint_set_get(text);
}

const struct range_domain *range_domain_get(struct range_name name) {
    uint32_t count = LOAD(&domain_count);
    for (uint32_t i = 0; i < count && i < RANGE_DOMAINS; ++i) {
        const struct range_text *text = LOAD(&range_domains[i].name);
        if (text && is_text_of(text, name)) {
            return &range_domains[i];
        }
    }
    const struct range_text *text = range_text_keep(name);
    if (!text) {
        return &lost_domain;
    }
    uint32_t at = __atomic_fetch_add(&domain_count, 1, __ATOMIC_RELAXED);
    if (at >= RANGE_DOMAINS) {
        STORE(&domain_count, RANGE_DOMAINS);
        stint_impl_lose_range();
        return &lost_domain;
    }
    range_domains[at].number = at + 1;
    range_domains[at].set = set_of_name(name, NULL);
    STORE(&range_domains[at].name, text);
    return &range_domains[at];
}

/* ---- Categories. */

static struct {
    uint64_t key; /* 0 = free */
    const stint_set *set;
} categories[RANGE_CATEGORIES];

/* Never 0: a category is not. */
static uint64_t category_key(const struct range_domain *domain, uint32_t category) {
    return (uint64_t)domain->number << 32 | category;
}

/* The place of the key, or a free one; RANGE_CATEGORIES: there is neither. */
static uint32_t category_place(uint64_t key) {
    uint32_t first = ((uint32_t)key + (uint32_t)(key >> 32) * 64) % RANGE_CATEGORIES;
    for (uint32_t i = 0; i < RANGE_CATEGORIES; ++i) {
        uint32_t at = (first + i) % RANGE_CATEGORIES;
        uint64_t is = LOAD(&categories[at].key);
        if (!is || is == key) {
            return at;
        }
    }
    return RANGE_CATEGORIES;
}

void range_category_name(const struct range_domain *domain, uint32_t category,
                         struct range_name name) {
    uint64_t key = category_key(domain, category), is = 0;
    uint32_t at;
    if (!category || !name.bytes || !name.length) {
        return;
    }
    do {
        at = category_place(key);
        if (at == RANGE_CATEGORIES) {
            stint_impl_lose_range();
            return;
        }
        is = 0;
    } while (!__atomic_compare_exchange_n(&categories[at].key, &is, key, 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE) &&
             is != key);
    STORE(&categories[at].set, set_of_name(name, domain->name));
}

const stint_set *range_set_of(const struct range_domain *domain, uint32_t category) {
    const stint_set *set = NULL;
    uint32_t at = RANGE_CATEGORIES;
    if (category) {
        at = category_place(category_key(domain, category));
    }
    if (at != RANGE_CATEGORIES) {
        set = LOAD(&categories[at].set);
    }
    if (set) {
        return set;
    }
    return domain->set;
}

/* ---- Ranges between a start and an end. */

#define TRIES 64

static struct started {
    uint64_t state; /* odd: open */
    uint64_t handle[2];
    const stint_set *set;
} started[RANGE_STARTED];
static uint32_t next_place; /* atomic */

uint64_t range_start(struct range_name name, const stint_set *set) {
    for (int i = 0; i < TRIES; ++i) {
        uint32_t at = __atomic_fetch_add(&next_place, 1, __ATOMIC_RELAXED) % RANGE_STARTED;
        struct started *s = &started[at];
        uint64_t state = LOAD(&s->state);
        if (!(state & 1) && __atomic_compare_exchange_n(&s->state, &state, state + 1, 0,
                                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            s->set = set;
            stint_impl_handle_begin_dynamic(s->handle, name.bytes, name.length);
            return (state + 1) * RANGE_STARTED + at;
        }
    }
    stint_impl_lose_range();
    return 0;
}

void range_finish(uint64_t number) {
    struct started *s = &started[number % RANGE_STARTED];
    uint64_t state = number / RANGE_STARTED;
    if (!number) {
        return; /* counted when it began */
    }
    if (!(state & 1) || LOAD(&s->state) != state) {
        stint_impl_lose_end();
        return;
    }
    uint64_t handle[2] = {s->handle[0], s->handle[1]};
    const stint_set *set = s->set;
    if (__atomic_compare_exchange_n(&s->state, &state, state + 1, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
        stint_impl_handle_end_in(handle, set);
    } else {
        stint_impl_lose_end();
    }
}
