/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run file under construction: made in memory, written to a temporary file when it is complete,
 * and renamed. A mapping of the file would end in SIGBUS if the disk becomes full.
 */
#ifndef STINT_TOOL_MERGE_FILE_H
#define STINT_TOOL_MERGE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "arena/arena.h"
#include "base/replace_file.h"

struct merge_file {
    struct replace_file file;
    char *base;
    uint64_t size; /* of the memory, which is used from its start */
    uint64_t used;
    uint64_t committed;           /* the part that has memory */
    uint64_t text_next, text_end; /* the piece that texts are taken from */
    int failed;                   /* one line was printed */
};

/* With addresses for `bytes` bytes, which get memory as they are used. 0, or -1 after one line. */
int merge_file_open(struct merge_file *f, const char *path, uint64_t bytes);
/* Zeroed memory in units; 0 after one line. */
uint32_t merge_file_get(struct merge_file *f, uint64_t bytes);
uint32_t merge_file_text(struct merge_file *f, const char *bytes, size_t length);
static inline void *merge_file_at(const struct merge_file *f, uint32_t unit) {
    return f->base + (uint64_t)unit * STINT_IMPL_UNIT;
}
static inline struct arena_header *merge_file_header(const struct merge_file *f) {
    return (struct arena_header *)(void *)f->base;
}
static inline const struct arena_text *merge_file_text_at(const struct merge_file *f,
                                                          uint32_t text) {
    return (const struct arena_text *)(const void *)(f->base + (uint64_t)text * 8);
}
/* Writes the used memory and renames the file. 0, or -1 after one line. */
int merge_file_publish(struct merge_file *f);
/* Releases it, published or not. */
void merge_file_close(struct merge_file *f);

#endif
