/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of ranks in a merged file: one struct arena_rank per process, and its numbers for each
 * name, which are put into the file run by run. A run that was merged itself brings the tables that
 * it has. merge.c calls.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "merge.h"
#include "model/ranks.h"
#include "stint/stint.h"

/* ---- Names. */

/* Sites of one name are one row. */
static int is_rank_name(struct merge *m, uint32_t place, const void *wanted) {
    const struct arena_rank_name *name = &m->ranks.name[place - 1], *key = wanted;
    return name->set == key->set &&
           merge_names_text_of(m, name->site) == merge_names_text_of(m, key->site);
}

static uint32_t make_rank_name(struct merge *m, const void *wanted) {
    struct merge_ranks *ranks = &m->ranks;
    ranks->name = scratch_array_grow(&m->lasting, ranks->name, ranks->name_count, &ranks->name_room,
                                     sizeof *ranks->name);
    if (!ranks->name) {
        return 0;
    }
    ranks->name[ranks->name_count] = *(const struct arena_rank_name *)wanted;
    return ++ranks->name_count;
}

/* The number of the name of a merged site, and set; SNAPSHOT_NONE without memory. */
static uint32_t number_name(struct merge *m, uint32_t site, uint32_t set) {
    struct arena_rank_name key = {.site = site, .set = set};
    uint64_t hash = hash_number((uint64_t)merge_names_text_of(m, site) << 32 | set);
    return merge_find_or_make(m, MERGE_RANK_NAMES, hash, is_rank_name, make_rank_name, &key) - 1;
}

/* ---- Ranks. */

static struct arena_rank *add_rank(struct merge *m) {
    struct merge_ranks *ranks = &m->ranks;
    ranks->rank = scratch_array_grow(&m->lasting, ranks->rank, ranks->count, &ranks->room,
                                     sizeof *ranks->rank);
    return ranks->rank ? &ranks->rank[ranks->count++] : NULL;
}

static uint32_t rank_put_text(struct merge *m, const char *text) {
    if (!*text) {
        return 0;
    }
    return merge_names_text(m, text, strlen(text));
}

void merge_cell_add(struct arena_rank_cell *to, const struct arena_rank_cell *more) {
    uint64_t number[RANK_CELL_NUMBERS];
    numbers_load(&record_rank_cell, number, more);
    merge_record_add(&record_rank_cell, to, number);
}

/* Room for the cells of all names so far. NULL after one line, or where there are none. */
static struct arena_rank_cell *add_cells(struct merge *m, struct arena_rank *to) {
    uint32_t count = m->ranks.name_count;
    if (!count) {
        return NULL;
    }
    to->cells = merge_file_get(&m->file, count * sizeof(struct arena_rank_cell));
    if (!to->cells) {
        return NULL;
    }
    to->cell_count = count;
    return merge_file_at(&m->file, to->cells);
}

/* The numbers of a run's names while its nodes are read. */
struct rank_names {
    uint32_t *of;   /* by node; SNAPSHOT_NONE: it is no row */
    uint32_t *last; /* by name: the thread that was counted last */
};

static int name_nodes(struct merge *m, const struct merge_map *map, struct rank_names *names) {
    const struct snapshot *s = &map->run->snapshot;
    names->of = scratch_array(&m->memory, (size_t)s->node_count + 1, sizeof *names->of);
    if (!names->of) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        names->of[i] = SNAPSHOT_NONE;
        if (n->parent == SNAPSHOT_NONE || !n->site || !(snapshot_calls(n) + n->recursions)) {
            continue;
        }
        names->of[i] = number_name(m, map->site[n->site], map->set[n->set]);
        if (names->of[i] == SNAPSHOT_NONE) {
            return -1;
        }
    }
    uint32_t count = m->ranks.name_count;
    names->last = scratch_array(&m->memory, (size_t)count + 1, sizeof *names->last);
    for (uint32_t i = 0; names->last && i < count; ++i) {
        names->last[i] = SNAPSHOT_NONE;
    }
    return names->last ? 0 : -1;
}

/* As rows_flat: whether a scope around it has the same name and set. */
static int is_nested_in_name(const struct snapshot *s, const struct rank_names *names,
                             uint32_t node) {
    uint32_t above = s->nodes[node].parent, depth = 0;
    for (; above != SNAPSHOT_NONE && depth < 2 * STINT_IMPL_DEPTH; ++depth) {
        if (names->of[above] == names->of[node]) {
            return 1;
        }
        above = s->nodes[above].parent;
    }
    return 0;
}

static uint64_t node_ns(const struct snapshot *s, const struct snapshot_node *n, uint64_t time) {
    if (n->in_ns) {
        return time;
    }
    return snapshot_whole((double)time * s->ns_per_tick + 0.5);
}

static int is_step_node(const struct snapshot *s, const struct snapshot_node *n) {
    return n->kind == STINT_IMPL_INTERVAL_NODE && s->sites[n->site].role == STINT_ROLE_STEP;
}

static void add_to_cell(struct merge *m, const struct snapshot *s, struct rank_names *names,
                        uint32_t node, struct arena_rank_cell *cells) {
    const struct snapshot_node *n = &s->nodes[node];
    uint32_t name = names->of[node];
    struct arena_rank_cell more = {.calls = u128_narrow(snapshot_calls(n) + n->recursions)};
    int is_whole = n->count && !is_nested_in_name(s, names, node);
    if (!is_step_node(s, n)) {
        more.self_ns = node_ns(s, n, snapshot_own(n));
    }
    if (is_whole) {
        more.total_ns = node_ns(s, n, n->total);
    }
    merge_cell_add(&cells[name], &more);
    if (is_whole && names->last[name] != n->thread) {
        names->last[name] = n->thread;
        ++m->ranks.name[name].threads;
    }
}

static int add_process(struct merge *m, const struct merge_map *map) {
    const struct run *r = map->run;
    const struct snapshot *s = &r->snapshot;
    struct rank_names names;
    struct arena_rank *to = add_rank(m);
    if (!to || name_nodes(m, map, &names)) {
        return -1;
    }
    *to = (struct arena_rank){.start_real_ns = r->start_real_ns,
                              .end_real_ns = saturating_add(r->start_real_ns, s->wall_ns),
                              .rank = r->rank,
                              .local = r->local,
                              .size = r->size,
                              .pid = r->pid,
                              .parent_pid = r->parent_pid,
                              .host = rank_put_text(m, r->host),
                              .job = rank_put_text(m, r->job),
                              .killed = r->state == RUN_KILLED};
    struct arena_rank_cell *cells = add_cells(m, to);
    for (uint32_t i = 0; cells && i < s->node_count; ++i) {
        if (names.of[i] != SNAPSHOT_NONE) {
            add_to_cell(m, s, &names, i, cells);
        }
    }
    const struct arena_job *job = run_job(r);
    if (m->file.failed || merge_windows_add(m, map, job ? job->windows : 0, &to->windows)) {
        return -1;
    }
    return 0;
}

/* ---- Runs that were merged. */

static int copy_rank(struct merge *m, const struct merge_map *map, const struct ranks *from,
                     uint32_t rank, const uint32_t *name_of) {
    struct arena_rank *to = add_rank(m);
    uint32_t count;
    const struct arena_rank_cell *cells = ranks_cells(from, rank, &count);
    if (!to) {
        return -1;
    }
    *to = from->rank[rank];
    to->host = rank_put_text(m, ranks_text(from, to->host));
    to->job = rank_put_text(m, ranks_text(from, to->job));
    to->killed = to->killed != 0;
    to->cells = to->cell_count = 0;
    struct arena_rank_cell *out = add_cells(m, to);
    for (uint32_t i = 0; out && i < count; ++i) {
        merge_cell_add(&out[name_of[i]], &cells[i]); /* a damaged table may have a name twice */
    }
    if (m->file.failed) {
        return -1;
    }
    return merge_windows_add(m, map, from->rank[rank].windows, &to->windows);
}

static int copy_ranks(struct merge *m, const struct merge_map *map, const struct ranks *from) {
    uint32_t *name_of = scratch_array(&m->memory, (size_t)from->name_count + 1, sizeof *name_of);
    if (!name_of) {
        return -1;
    }
    for (uint32_t i = 0; i < from->name_count; ++i) {
        const struct arena_rank_name *name = &from->name[i];
        name_of[i] = number_name(m, map->site[name->site], map->set[name->set]);
        if (name_of[i] == SNAPSHOT_NONE) {
            return -1;
        }
        uint64_t *threads = &m->ranks.name[name_of[i]].threads;
        *threads = saturating_add(*threads, name->threads);
    }
    for (uint32_t i = 0; i < from->count; ++i) {
        if (copy_rank(m, map, from, i, name_of)) {
            return -1;
        }
    }
    return 0;
}

int merge_ranks_add(struct merge *m, const struct merge_map *map) {
    struct ranks from;
    if (!ranks_read(&from, &map->run->snapshot)) {
        return copy_ranks(m, map, &from);
    }
    return add_process(m, map);
}

uint32_t merge_ranks_killed(const struct merge_ranks *ranks) {
    uint32_t killed = 0;
    for (uint32_t i = 0; i < ranks->count; ++i) {
        killed += ranks->rank[i].killed;
    }
    return killed;
}

/* ---- Writing. */

/* The size and id that all ranks have in common; 0: they differ. */
static void write_common(const struct merge_ranks *ranks, struct arena_job *job) {
    job->size = ranks->rank[0].size;
    job->id = ranks->rank[0].job;
    for (uint32_t i = 1; i < ranks->count; ++i) {
        if (ranks->rank[i].size != job->size) {
            job->size = 0;
        }
        if (ranks->rank[i].job != job->id) {
            job->id = 0;
        }
    }
    if (ranks->count == 1) {
        job->local = ranks->rank[0].local;
    }
}

int merge_ranks_finish(struct merge *m) {
    const struct merge_ranks *ranks = &m->ranks;
    struct arena_header *h = merge_file_header(&m->file);
    struct arena_job *job = merge_file_need(&m->file, &h->job, sizeof *job);
    if (!job) {
        return -1;
    }
    job->ranks = merge_file_put(&m->file, ranks->rank, ranks->count * sizeof *ranks->rank);
    job->rank_count = ranks->count;
    if (ranks->name_count) {
        job->names = merge_file_put(&m->file, ranks->name, ranks->name_count * sizeof *ranks->name);
    }
    job->name_count = ranks->name_count;
    job->clocks = rank_put_text(m, m->clocks);
    write_common(ranks, job);
    return m->file.failed ? -1 : 0;
}
