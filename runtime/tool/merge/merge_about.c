/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The properties of the run that the merged file describes. The header's two stamps are those of
 * the run that began first and of the one that ended last, so that the length of a tick is measured
 * over the longest time. The end of a single killed run stays unknown.
 */
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "merge.h"

#define SEVERAL_COMMANDS "several commands"

/* ---- Start and end. */

static struct clock_stamp convert_stamp(const struct merge *m, const struct merge_map *map,
                                        const struct clock_stamp *from) {
    struct clock_stamp to = *from;
    if (!map->one_clock) {
        to.ticks = merge_tick(map, from->ticks);
        double since = ((double)to.ticks - (double)m->clock.start.ticks) * m->clock.ns_per_tick;
        double at = (double)m->clock.start.monotonic_ns + since;
        to.monotonic_ns = snapshot_whole(double_max(at, 1));
    }
    return to;
}

static void about_add_times(struct merge *m, const struct merge_map *map) {
    struct clock_stamp start = convert_stamp(m, map, &map->from->start);
    struct clock_stamp end = convert_stamp(m, map, &map->run->snapshot.now);
    uint64_t before = map->from->start.monotonic_ns - map->run->snapshot.start_ns;
    uint64_t process = start.monotonic_ns;
    if (before < process) {
        process -= before;
    }
    if (!m->runs || start.ticks < m->start.ticks) {
        m->start = start;
    }
    if (!m->runs || end.ticks > m->end.ticks) {
        m->end = end;
    }
    if (!m->runs || process < m->process_start_ns) {
        m->process_start_ns = process;
    }
}

/* The merged tick of a time of day. */
static struct clock_stamp stamp_at(const struct merge *m, uint64_t real_ns) {
    uint64_t later = real_ns - m->clock.start.real_ns; /* modulo 2^64 if it is earlier */
    uint64_t at = m->clock.start.monotonic_ns + later;
    return (struct clock_stamp){at, at, real_ns};
}

/* The wall time of runs of several boots is by the time of day: by the merged clock it would depend
 * on the run that this clock is of. */
static void about_finish_times(struct merge *m) {
    const struct merge_ranks *ranks = &m->ranks;
    uint64_t start = UINT64_MAX, end = 0;
    if (m->keep == MERGE_KEEP_THREADS || !m->boots_differ) {
        return;
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        start = u64_min(start, ranks->rank[i].start_real_ns);
        end = u64_max(end, ranks->rank[i].end_real_ns);
    }
    m->start = stamp_at(m, start);
    m->end = stamp_at(m, end);
    m->process_start_ns = m->start.monotonic_ns;
    memset(m->clock.boot_id, 0, sizeof m->clock.boot_id);
}

/* ---- Texts. */

/* The command of a run without the "3 runs (1 killed) of " that an earlier merge wrote before
 * it. */
static const char *skip_runs(const struct run *r) {
    static const char of[] = " of ";
    const struct arena_job *job = run_job(r);
    const char *found = NULL;
    if (job && job->rank_count > 1) {
        found = strstr(r->command, of);
    }
    return found ? found + sizeof of - 1 : r->command;
}

static void about_add_texts(struct merge *m, const struct run *r) {
    const char *text[MERGE_ABOUTS] = {r->program,  skip_runs(r), r->host, r->cpu,
                                      r->compiler, r->clock,     r->gpu};
    for (uint32_t i = 0; i < MERGE_ABOUTS; ++i) {
        struct merge_about *a = &m->about[i];
        if (!m->runs) {
            snprintf(a->text, sizeof a->text, "%s", text[i]);
        }
        a->differ |= strncmp(a->text, text[i], sizeof a->text - 1) != 0;
    }
}

/* Copies the cost of one run; several runs on different machines have no one cost. */
static void about_copy_cost(struct merge *m, const struct merge_map *map) {
    const struct run *r = map->run;
    uint32_t unit = 0;
    if (r->cost) {
        unit = merge_file_put(&m->file, r->cost, sizeof *r->cost);
    }
    if (unit) {
        struct arena_cost *to = merge_file_at(&m->file, unit);
        uint64_t *times[] = {&to->timed, &to->recursive, &to->dynamic, &to->reading, &to->inner,
                             &to->outer, &to->dense,     &to->gap,     &to->cold};
        for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
            *times[i] = merge_length(map, *times[i]);
        }
        to->conditions = 0;
        merge_file_header(&m->file)->cost = unit;
        if (*r->conditions) {
            to->conditions = merge_names_text(m, r->conditions, strlen(r->conditions));
        }
    }
}

void merge_about_add(struct merge *m, const struct merge_map *map) {
    struct arena_header *h = merge_file_header(&m->file);
    const struct run *r = map->run;
    about_add_times(m, map);
    about_add_texts(m, r);
    m->boots_differ |= m->expected > 1 && !merge_is_one_boot(m, map->from);
    h->about.cpus = (uint32_t)u64_max(h->about.cpus, r->cpus);
    m->reference += map->from->about.reference_ps;
    m->references += map->from->about.reference_ps != 0;
    if (m->expected == 1) {
        h->pid = r->pid;
        h->about.rank = r->rank;
        h->parent_pid = r->parent_pid;
        if (map->from->end.ticks) {
            h->end = convert_stamp(m, map, &map->from->end);
        }
        about_copy_cost(m, map);
    }
}

/* The text of a merged property; several: of runs that differ in it. */
static uint32_t about_put(struct merge *m, enum merge_property which, const char *several) {
    const struct merge_about *a = &m->about[which];
    const char *text = a->differ ? several : a->text;
    return *text ? merge_names_text(m, text, strlen(text)) : 0;
}

static uint32_t about_put_command(struct merge *m) {
    char text[ARENA_NAME_BYTES + 1], killed[40] = "";
    uint32_t count = merge_ranks_killed(&m->ranks);
    if (m->ranks.count == 1) {
        return about_put(m, MERGE_COMMAND, "");
    }
    if (count) {
        snprintf(killed, sizeof killed, " (%u killed)", count);
    }
    const struct merge_about *about = &m->about[MERGE_COMMAND];
    const char *command = about->differ ? SEVERAL_COMMANDS : about->text;
    snprintf(text, sizeof text, "%u runs%s of %.800s", m->ranks.count, killed, command);
    return merge_names_text(m, text, strlen(text));
}

int merge_about_finish(struct merge *m) {
    struct arena_header *h = merge_file_header(&m->file);
    struct arena_about *about = &h->about;
    about_finish_times(m);
    h->clock_kind = m->clock.kind;
    h->ticks_per_us = m->clock.ticks_per_us;
    h->start = m->start;
    if (m->expected > 1) {
        h->end = m->end;
    }
    h->process_start_ns = m->process_start_ns;
    memcpy(h->boot_id, m->clock.boot_id, sizeof h->boot_id);
    about->program = about_put(m, MERGE_PROGRAM, "several programs");
    about->command = about_put_command(m);
    about->host = about_put(m, MERGE_HOST, "several hosts");
    about->cpu = about_put(m, MERGE_CPU, "several kinds");
    about->compiler = about_put(m, MERGE_COMPILER, "several compilers");
    about->clock = about_put(m, MERGE_CLOCK, "several clocks");
    about->gpu = about_put(m, MERGE_GPU, "several back ends");
    if (m->references) {
        about->reference_ps = (uint32_t)(m->reference / m->references);
    }
    return m->file.failed ? -1 : 0;
}
