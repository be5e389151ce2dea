/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What merged runs have in common: texts, sites and sets, each once.
 */
#ifndef STINT_TOOL_MERGE_NAMES_H
#define STINT_TOOL_MERGE_NAMES_H

#include "base/hash_map.h"
#include "base/scratch.h"
#include "merge_file.h"
#include "read/snapshot.h"

struct merge_names {
    struct merge_file *file;
    struct scratch memory;
    struct hash_map texts; /* hashes of texts to units of 8 */
    struct hash_map sites; /* hashes of sites to their numbers */
    struct hash_map sets;  /* texts to numbers */
};

/* 0, or -1 without memory. */
int merge_names_start(struct merge_names *n, struct merge_file *file);
/* Each returns a number, or 0 after one line or without memory. The default set is number 0:
 * *failed is the result. */
uint32_t merge_names_text(struct merge_names *n, const char *bytes, size_t length);
uint32_t merge_names_site(struct merge_names *n, const struct snapshot *s, uint32_t id);
uint32_t merge_names_set(struct merge_names *n, const char *name, int *failed);
void merge_names_end(struct merge_names *n);

#endif
