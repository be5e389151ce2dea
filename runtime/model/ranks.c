/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the tables that `stint merge` writes (struct arena_job).
 */
#include "ranks.h"

#include <string.h>

int ranks_read(struct ranks *out, const struct snapshot *s) {
    memset(out, 0, sizeof *out);
    if (!s->base) {
        return -1; /* a snapshot that was not read from an arena */
    }
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    const struct arena_job *job = snapshot_at(s, h->job, sizeof *job);
    if (!job || !job->rank_count) {
        return -1;
    }
    out->snapshot = s;
    out->count = job->rank_count;
    out->name_count = job->name_count;
    out->rank = snapshot_at(s, job->ranks, (uint64_t)out->count * sizeof *out->rank);
    if (!out->rank) {
        return -1;
    }
    if (out->name_count) {
        out->name = snapshot_at(s, job->names, (uint64_t)out->name_count * sizeof *out->name);
    }
    if (out->name_count && !out->name) {
        return -1;
    }
    for (uint32_t i = 0; i < out->name_count; ++i) {
        const struct arena_rank_name *name = &out->name[i];
        if (!name->site || name->site > s->site_count || name->set >= s->set_count) {
            return -1;
        }
    }
    return 0;
}

const struct arena_rank_cell *ranks_cells(const struct ranks *r, uint32_t rank, uint32_t *count) {
    const struct arena_rank *of = &r->rank[rank];
    *count = 0;
    if (!of->cell_count || of->cell_count > r->name_count) {
        return NULL;
    }
    const struct arena_rank_cell *cells =
        snapshot_at(r->snapshot, of->cells, (uint64_t)of->cell_count * sizeof *cells);
    if (cells) {
        *count = of->cell_count;
    }
    return cells;
}

const char *ranks_text(const struct ranks *r, uint32_t text) {
    uint32_t length;
    const char *found = snapshot_text(r->snapshot, text, &length);
    return found ? found : "";
}
