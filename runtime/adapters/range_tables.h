/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of the things that ranges refer to: domains, registered strings, categories, things of a
 * kind, and ranges between a start and an end. Each table has a fixed size, is used without a lock,
 * also in signal handlers, and gives nothing back but open ranges; what finds no room is counted.
 */
#ifndef STINT_RANGE_TABLES_H
#define STINT_RANGE_TABLES_H

#include <stdint.h>
#include <string.h>

#include "range_interfaces.inc" /* enum range_interface and RANGE_EACH, from gen/interfaces.ini */
#include "session/range_calls.h"

#define RANGE_DOMAINS 8192
#define RANGE_DOMAIN_LOST (RANGE_DOMAINS + RANGE_INTERFACES)
#define RANGE_DOMAINS_ALL (RANGE_DOMAIN_LOST + 1)
#define RANGE_CATEGORIES 2048
#define RANGE_TEXT_BYTES (4u << 20) /* names of domains and registered strings */
#define RANGE_STARTED 4096
#define RANGE_NAME_BYTES 1000
#define RANGE_SHAPE_BYTES 128
/* One more than a name: stint counts it as cut. */
#define RANGE_TEXT_MOST (RANGE_NAME_BYTES + RANGE_SHAPE_BYTES + 24)
#define RANGE_THINGS 32768
#define RANGE_THING_TRIES 64

/* Before the definition of a function that other libraries find by its name. */
#define RANGE_EXPORTED __attribute__((visibility("default")))

/* A scope that is in no file: a role, or 0. */
#define RANGE_SITE(name, role)                                                                     \
    { name, "", "", 0, 0, role, 0, 0 }

/* Not ended by a NUL. */
struct range_name {
    const char *bytes; /* NULL: none */
    uint64_t length;
};

/* A copy of a name, at the address of its handle. */
struct range_text {
    uint64_t length;
    char bytes[];
};

struct range_domain {
    _Alignas(32) const struct range_text *name;
    const stint_set *set; /* NULL: the default one */
    uint32_t number;      /* below RANGE_INTERFACES: without a domain; RANGE_DOMAIN_LOST: no room */
    enum range_interface interface;
    uint32_t set_number; /* of `set` */
};

/* Whether STINT_RANGES is a list of interfaces without this one. */
int range_is_off(enum range_interface interface);

/* For data of the library in a header: without it, each use finds its address by a table. */
#define RANGE_INTERNAL __attribute__((visibility("hidden")))

/* The domains of ranges without a domain, by interface. */
extern RANGE_INTERNAL const struct range_domain range_default[RANGE_INTERFACES];
/* The domains without room. */
extern RANGE_INTERNAL const struct range_domain range_lost[RANGE_INTERFACES];

/* Without room that of RANGE_DOMAIN_LOST: several domains share it, so no end of a pushed range can
 * be told to be that of one of them. */
const struct range_domain *range_domain_get(enum range_interface interface, struct range_name name);
/* The domain of a handle, which may be any pointer: without a domain for NULL, that without room
 * for one that is none. */
const struct range_domain *range_domain_of(enum range_interface interface, const void *handle);

/* Gives a category of a domain its name. */
void range_category_name(const struct range_domain *domain, uint32_t category,
                         struct range_name name);
/* The set of a category: that of its name, else that of its domain. */
const stint_set *range_set_of(const struct range_domain *domain, uint32_t category);

/* Copies of names, and things. */
extern RANGE_INTERNAL struct range_texts {
    _Alignas(8) char bytes[RANGE_TEXT_BYTES];
    uint64_t used; /* atomic; stays where it was refused */
} range_texts;

/* Before each thing: what it is. The name lies after it. */
struct range_thing {
    uint64_t kind;
    uint64_t length;
};

/* A thing that an interface hands to programs, as a domain or a string: one of a kind and a name,
 * made at the first call and never freed. */
struct range_shape {
    uint64_t kind; /* a number that is not in memory by chance */
    size_t bytes;  /* a multiple of 8, at most RANGE_SHAPE_BYTES */
    /* The name stays, and ends with a NUL. NULL: the body begins as 0. */
    void (*fill)(void *body, struct range_name name);
};
/* NULL without room, counted. */
void *range_thing_get(const struct range_shape *shape, struct range_name name);
/* The same for the name of a program, which may be NULL; `spare` without room or a name. */
void *range_thing_or(const struct range_shape *shape, const char *name, void *spare);
/* Without making one. */
void *range_thing_find(const struct range_shape *shape, struct range_name name);
/* Whether it is one: programs may hand over any pointer, also one that is not aligned. */
static inline int range_thing_is(const struct range_shape *shape, const void *thing) {
    uint64_t kind, size = sizeof(struct range_thing);
    if ((uintptr_t)thing - (uintptr_t)(range_texts.bytes + size) >= RANGE_TEXT_BYTES - size) {
        return 0;
    }
    memcpy(&kind, (const char *)thing - size, sizeof kind);
    return kind == shape->kind;
}

/* The site of a name with the role waiting. */
struct stint_impl_site *range_waiting_site(const char *name);

/* A range that any thread may end. Its number; 0 without room. */
uint64_t range_start(const struct range_domain *domain, struct range_name name,
                     const stint_set *set);
void range_finish(uint64_t number);
/* The same by a number of the program, a hash that is not 0: several may have it. None begins in
 * the domain that is for those without room. */
void range_start_as(uint64_t key, const struct range_domain *domain, struct range_name name,
                    const stint_set *set);
void range_finish_as(uint64_t key);
/* Counts a range that begins and is not recorded. */
void range_refuse(enum range_interface interface);
/* The end of one that has no range: of a refused one if there is such a one, else it is counted. */
void range_finish_refused(uint32_t *refused);

#endif
