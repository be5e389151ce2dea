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
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "range_stack.h"

#define LOAD(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

#define DOMAIN(interface, ...) [interface] = {NULL, NULL, interface, interface, 0},
const struct range_domain range_default[RANGE_INTERFACES] = {RANGE_EACH(DOMAIN)};
#define LOST(interface, ...) [interface] = {NULL, NULL, RANGE_DOMAIN_LOST, interface, 0},
const struct range_domain range_lost[RANGE_INTERFACES] = {RANGE_EACH(LOST)};
#define NAME(interface, name, ...) [interface] = name,

int range_is_off(enum range_interface interface) {
    static const char *const names[RANGE_INTERFACES] = {RANGE_EACH(NAME)};
    const char *list = secure_getenv("STINT_RANGES");
    size_t length = strlen(names[interface]);
    if (!list || !*list) {
        return 0;
    }
    while (*list) {
        size_t word = strcspn(list, ",");
        if (word == length && !memcmp(list, names[interface], length)) {
            return 0;
        }
        list += word + (list[word] == ',');
    }
    return 1;
}

/* ---- Texts. */

struct range_texts range_texts;

/* NULL without room. */
static const struct range_text *range_text_keep(struct range_name name) {
    uint64_t length = name.length;
    if (length > RANGE_TEXT_MOST) {
        length = RANGE_TEXT_MOST;
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

const struct range_domain *range_domain_get(enum range_interface interface,
                                            struct range_name name) {
    uint32_t count = LOAD(&domain_count);
    for (uint32_t i = 0; i < count && i < RANGE_DOMAINS; ++i) {
        const struct range_text *text = LOAD(&range_domains[i].name);
        if (text && range_domains[i].interface == interface && text->length == name.length &&
            !memcmp(text->bytes, name.bytes, name.length)) {
            return &range_domains[i];
        }
    }
    const struct range_text *text = range_text_keep(name);
    if (!text) {
        return &range_lost[interface];
    }
    uint32_t at = __atomic_fetch_add(&domain_count, 1, __ATOMIC_RELAXED);
    if (at >= RANGE_DOMAINS) {
        STORE(&domain_count, RANGE_DOMAINS);
        stint_impl_lose_range();
        return &range_lost[interface];
    }
    range_domains[at].number = at + RANGE_INTERFACES;
    range_domains[at].interface = interface;
    range_domains[at].set = set_of_name(name, NULL);
    range_domains[at].set_number = stint_impl_set_id(range_domains[at].set);
    STORE(&range_domains[at].name, text);
    return &range_domains[at];
}

const struct range_domain *range_domain_of(enum range_interface interface, const void *handle) {
    uint64_t at = (uint64_t)(uintptr_t)handle - (uint64_t)(uintptr_t)range_domains;
    if (at < sizeof range_domains && at % sizeof *range_domains == 0) {
        return handle;
    }
    if (!handle) {
        return &range_default[interface];
    }
    return &range_lost[interface];
}

/* ---- Categories. */

static struct {
    uint64_t key; /* 0 = free */
    const stint_set *set;
} categories[RANGE_CATEGORIES];

/* Never 0: a category is not. The numbers of domains are those of all interfaces. */
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

/* ---- Things that have a kind and a name. */

/* Entered by compare and exchange, then never changed. */
static struct range_thing *things[RANGE_THINGS];

static void *thing_body(struct range_thing *thing) {
    return thing + 1;
}

static struct range_thing *thing_make(const struct range_shape *shape, struct range_name name) {
    char bytes[sizeof(struct range_thing) + RANGE_SHAPE_BYTES + RANGE_NAME_BYTES + 2];
    struct range_thing head = {shape->kind, name.length};
    size_t at = sizeof head + shape->bytes;
    memset(bytes, 0, at);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + at, name.bytes, name.length);
    bytes[at + name.length] = '\0';
    const struct range_text *text =
        range_text_keep((struct range_name){bytes, at + name.length + 1});
    if (!text) {
        return NULL;
    }
    struct range_thing *made = (struct range_thing *)(uintptr_t)text->bytes;
    const char *kept = text->bytes + at;
    if (shape->fill) {
        shape->fill(thing_body(made), (struct range_name){kept, name.length});
    }
    return made;
}

static int thing_has(struct range_thing *thing, const struct range_shape *shape,
                     struct range_name name) {
    return thing->kind == shape->kind && thing->length == name.length &&
           !memcmp((char *)thing_body(thing) + shape->bytes, name.bytes, name.length);
}

static struct range_thing **thing_place(const struct range_shape *shape, struct range_name name,
                                        uint32_t tries) {
    uint64_t first = hash_bytes(name.bytes, name.length) + shape->kind;
    return &things[(first + tries) % RANGE_THINGS];
}

static struct range_name thing_name_cut(struct range_name name) {
    if (name.length > RANGE_NAME_BYTES) {
        name.length = RANGE_NAME_BYTES;
    }
    return name;
}

void *range_thing_find(const struct range_shape *shape, struct range_name name) {
    name = thing_name_cut(name);
    for (uint32_t i = 0; i < RANGE_THING_TRIES; ++i) {
        struct range_thing *is = LOAD(thing_place(shape, name, i));
        if (!is) {
            return NULL;
        }
        if (thing_has(is, shape, name)) {
            return thing_body(is);
        }
    }
    return NULL;
}

void *range_thing_get(const struct range_shape *shape, struct range_name name) {
    void *found = range_thing_find(shape, name);
    if (found) {
        return found;
    }
    name = thing_name_cut(name);
    struct range_thing *made = thing_make(shape, name);
    for (uint32_t i = 0; made && i < RANGE_THING_TRIES; ++i) {
        struct range_thing **at = thing_place(shape, name, i), *is = NULL;
        if (__atomic_compare_exchange_n(at, &is, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            return thing_body(made);
        }
        if (thing_has(is, shape, name)) {
            return thing_body(is);
        }
    }
    if (made) {
        stint_impl_lose_range();
    }
    return NULL;
}

void *range_thing_or(const struct range_shape *shape, const char *name, void *spare) {
    void *thing = NULL;
    if (name && *name) {
        thing = range_thing_get(shape, (struct range_name){name, strlen(name)});
    }
    if (!thing) {
        thing = spare;
    }
    return thing;
}

static void waiting_fill(void *body, struct range_name name) {
    *(struct stint_impl_site *)body =
        (struct stint_impl_site)RANGE_SITE(name.bytes, STINT_ROLE_WAITING);
}

struct stint_impl_site *range_waiting_site(const char *name) {
    static const struct range_shape shape = {0x7374696e74776169, sizeof(struct stint_impl_site),
                                             waiting_fill};
    static struct stint_impl_site spare = RANGE_SITE("waiting", STINT_ROLE_WAITING);
    return range_thing_or(&shape, name, &spare);
}

/* ---- Ranges between a start and an end. */

static struct started {
    uint64_t state; /* odd: open */
    uint64_t key;   /* of the program; 0: it has none, or is ending. Atomic, written last */
    uint64_t handle[2];
    const stint_set *set;
    uint32_t refused; /* keys that begin their search here: lost, less their ends. Atomic */
} started[RANGE_STARTED];
static uint32_t next_place; /* atomic */
static uint32_t refusals;   /* atomic; since a search found no place. An end clears it */

void range_refuse(enum range_interface interface) {
    range_count(interface);
    stint_impl_lose_range();
}

void range_finish_refused(uint32_t *refused) {
    uint32_t is = LOAD(refused);
    while (is && !__atomic_compare_exchange_n(refused, &is, is - 1, 1, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED)) {
    }
    if (!is) {
        stint_impl_lose_end();
    }
}

/* In a free place, from the first one on. Its number; 0 without one, counted. */
static uint64_t started_begin(uint32_t first, const struct range_domain *domain,
                              struct range_name name, const stint_set *set) {
    uint32_t tries = RANGE_STARTED;
    if (LOAD(&refusals) % 64) {
        tries = 0;
    }
    for (uint32_t i = 0; i < tries; ++i) {
        uint32_t at = (first + i) % RANGE_STARTED;
        struct started *s = &started[at];
        uint64_t state = LOAD(&s->state);
        if (!(state & 1) && __atomic_compare_exchange_n(&s->state, &state, state + 1, 0,
                                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            range_count(domain->interface);
            s->set = set;
            stint_impl_handle_begin_dynamic(s->handle, name.bytes, name.length);
            return (state + 1) * RANGE_STARTED + at;
        }
    }
    __atomic_fetch_add(&refusals, 1, __ATOMIC_RELAXED);
    range_refuse(domain->interface);
    return 0;
}

uint64_t range_start(const struct range_domain *domain, struct range_name name,
                     const stint_set *set) {
    uint32_t first = __atomic_fetch_add(&next_place, 1, __ATOMIC_RELAXED);
    uint64_t number = started_begin(first, domain, name, set);
    uint32_t passed = ((uint32_t)number - first) % RANGE_STARTED;
    if (number && passed) {
        __atomic_fetch_add(&next_place, passed, __ATOMIC_RELAXED); /* beyond those that are open */
    }
    return number;
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
        if (LOAD(&refusals)) {
            STORE(&refusals, 0);
        }
        stint_impl_handle_end_in(handle, set);
    } else {
        stint_impl_lose_end();
    }
}

void range_start_as(uint64_t key, const struct range_domain *domain, struct range_name name,
                    const stint_set *set) {
    uint64_t number = 0;
    if (domain->number != RANGE_DOMAIN_LOST) {
        number = started_begin((uint32_t)key, domain, name, set);
    } else {
        range_refuse(domain->interface);
    }
    if (number) {
        STORE(&started[number % RANGE_STARTED].key, key);
    } else {
        __atomic_fetch_add(&started[key % RANGE_STARTED].refused, 1, __ATOMIC_RELAXED);
    }
}

void range_finish_as(uint64_t key) {
    for (uint32_t i = 0; i < RANGE_STARTED; ++i) {
        uint64_t at = ((uint32_t)key + i) % RANGE_STARTED, is = key;
        if (__atomic_compare_exchange_n(&started[at].key, &is, 0, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            range_finish(LOAD(&started[at].state) * RANGE_STARTED + at);
            return;
        }
    }
    range_finish_refused(&started[key % RANGE_STARTED].refused);
}
