/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ranges of NVTX refer to: domains, registered strings, categories, and ranges between a start
 * and an end. Each table has a fixed size, is used without a lock, also in signal handlers, and
 * gives nothing back but open ranges; what finds no room is counted.
 */
#ifndef STINT_RANGE_TABLES_H
#define STINT_RANGE_TABLES_H

#include <stdint.h>

#include "session/range_calls.h"

#define RANGE_DOMAINS 1024
#define RANGE_DOMAIN_LOST (RANGE_DOMAINS + 1)
#define RANGE_DOMAINS_ALL (RANGE_DOMAINS + 2)
#define RANGE_CATEGORIES 2048
#define RANGE_TEXT_BYTES (4u << 20) /* names of domains and registered strings */
#define RANGE_STARTED 4096
#define RANGE_NAME_BYTES 1000

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
    const struct range_text *name;
    const stint_set *set; /* NULL: the default one */
    uint32_t number;      /* 0: without a domain; RANGE_DOMAIN_LOST: found no room */
};

/* That of ranges without a domain. */
extern const struct range_domain range_default_domain;

/* NULL without room. */
const struct range_text *range_text_keep(struct range_name name);

/* Without room that of RANGE_DOMAIN_LOST: several domains share it, so no end of a pushed range can be
 * told to be that of one of them. */
const struct range_domain *range_domain_get(struct range_name name);

/* Gives a category of a domain its name. */
void range_category_name(const struct range_domain *domain, uint32_t category,
                         struct range_name name);
/* The set of a category: that of its name, else that of its domain. */
const stint_set *range_set_of(const struct range_domain *domain, uint32_t category);

/* A range that any thread may end. Its number; 0 without room. */
uint64_t range_start(struct range_name name, const stint_set *set);
void range_finish(uint64_t number);

#endif
