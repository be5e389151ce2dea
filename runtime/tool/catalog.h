/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A catalogue of the sites in the sources, which stint_catalog of CMake writes as JSON, and which of
 * them runs have reached.
 */
#ifndef STINT_TOOL_CATALOG_H
#define STINT_TOOL_CATALOG_H

#include "base/hash_map.h"
#include "base/text.h"
#include "read/snapshot.h"

struct catalog_site {
    const char *name; /* NULL: made at run time */
    const char *file;
    const char *function;
    uint32_t line;
    int timed; /* a scope or an interval; a mark is not in a run without a trace */
    int reached;
};

struct catalog {
    const char *path;
    struct scratch memory;
    char *bytes; /* of the file; texts point into it */
    size_t size;
    struct catalog_site *sites;
    uint32_t count;
    struct hash_map site_of; /* hash of name and line */
    uint64_t lost_names;     /* of the runs */
};

/* 0, or -1 after one line on stderr. */
int catalog_read(struct catalog *c, const char *path);
void catalog_free(struct catalog *c);
/* Marks the sites that the run has. */
void catalog_reach(struct catalog *c, const struct snapshot *s);
/* The list of those that no run had. */
void catalog_print(struct text *out, const struct catalog *c);

#endif
