/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint_job_report: one summary of the processes of a job, made by them together at its end. A copy
 * of the statistics of this process is taken first; then the callback reduces it with the others'
 * (job_reduce.c), and rank 0 prints.
 */
#include "base/api.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/role.h"
#include "interval/interval.h"
#include "interval/report_print.h"
#include "job.h"
#include "model/rows.h"
#include "system/log.h"
#include "system/machine.h"

/* Names by their first site, which says whether they wait. 0, or -1 without memory. */
static int map_site_names(struct hash_map *map, struct snapshot *s) {
    if (hash_map_start(map, &s->memory, s->site_count)) {
        return -1;
    }
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        const struct snapshot_site *site = &s->sites[id];
        if (site->name && hash_map_add(map, (uint32_t)hash_bytes(site->name, site->length), id)) {
            return -1;
        }
    }
    return 0;
}

/* The first site of the name; HASH_MAP_NONE: none has it. */
static uint32_t row_site(const struct hash_map *map, const struct snapshot *s,
                         const struct stint_row *r) {
    struct hash_map_walk walk;
    uint32_t first = HASH_MAP_NONE;
    uint32_t id = hash_map_first(map, (uint32_t)hash_bytes(r->name, r->name_length), &walk);
    for (; id != HASH_MAP_NONE; id = hash_map_next(map, &walk)) {
        const struct snapshot_site *site = &s->sites[id];
        if (id < first && site->length == r->name_length &&
            !memcmp(site->name, r->name, r->name_length)) {
            first = id;
        }
    }
    return first;
}

static int job_add_row(struct job *j, const struct snapshot *s, const struct stint_row *r,
                       uint32_t site) {
    const char *set = r->set ? s->sets[r->set] : "";
    size_t set_length = strlen(set);
    struct job_row *to = &j->row[j->row_count];
    char *key = scratch_get(&j->memory, (size_t)r->name_length + set_length + 2);
    if (!key) {
        return -1;
    }
    memcpy(key, r->name, r->name_length);
    memcpy(key + r->name_length + 1, set, set_length);
    to->key = key;
    to->length = (uint32_t)(r->name_length + set_length + 2);
    to->hash = hash_bytes_shared(key, to->length) % JOB_NONE;
    to->calls = (uint64_t)u128_min(r->calls, JOB_NONE - 1);
    to->total_ns = (uint64_t)u128_min(r->total_ns, JOB_NONE - 1);
    if (site != HASH_MAP_NONE && role_waits(s->sites[site].role)) {
        to->role = s->sites[site].role;
    }
    ++j->row_count;
    return 0;
}

static int job_copy_rows(struct job *j, struct snapshot *s) {
    struct rows rows;
    struct hash_map sites;
    if (rows_flat(&rows, s, 0) || map_site_names(&sites, s)) {
        return -1;
    }
    j->row = scratch_array(&j->memory, (size_t)rows.count + 1, sizeof *j->row);
    for (uint32_t i = 0; j->row && i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        if (r->calls && job_add_row(j, s, r, row_site(&sites, s, r))) {
            j->row = NULL;
        }
    }
    return j->row ? 0 : -1;
}

/* Without memory for them j->row stays NULL, on which all processes agree later. */
static void job_read_rows(struct job *j) {
    struct snapshot s;
    if (interval_open(&s, 0)) {
        return;
    }
    if (job_copy_rows(j, &s)) {
        j->row = NULL;
        j->row_count = 0;
    }
    interval_close(&s);
}

static int job_print(const struct job *j, const char *program) {
    struct text out;
    struct job_summary summary = {.program = program,
                                  .size = j->size,
                                  .name = j->name,
                                  .name_count = j->name_count,
                                  .wait = j->wait,
                                  .wait_count = j->wait_count,
                                  .waits_left_out = j->waits_left_out,
                                  .left_out = j->left_out};
    text_start(&out);
    int result = STINT_ERROR_NO_MEMORY;
    if (!report_job(&out, &summary)) {
        result = report_print_text(&out);
    }
    text_free(&out);
    return result;
}

int stint_job_report(uint32_t rank, uint32_t size, stint_reduce_fn reduce, void *data) {
    FUNCTION_KEEP;
    struct job j = {.reduce = reduce, .data = data, .rank = rank, .size = size};
    struct machine machine;
    if (!reduce || rank >= size) {
        log_error("stint_job_report: expected a callback and a rank below the size, not rank %u of "
                  "%u",
                  rank, size);
        return STINT_ERROR_UNKNOWN;
    }
    machine_read(&machine);
    job_read_rows(&j);
    int result = job_reduce_all(&j, machine.host);
    if (result == STINT_ERROR_NO_MEMORY) {
        log_error("stint_job_report: no memory in one of the processes");
    }
    if (!result && !rank) {
        result = job_print(&j, machine.program);
    }
    scratch_free(&j.memory);
    return result;
}
