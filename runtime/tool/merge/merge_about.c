/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clocks of merged runs, and the properties of the run that the merged file describes.
 * - Ticks of one boot and kind of clock are the same in all processes and are copied unchanged.
 *   Those of another are converted by the time of day, which the machines are assumed to agree on.
 * - The header's two stamps are those of the run that began first and of the one that ended last,
 *   so that the length of a tick is measured over the longest time. The end of a single killed run
 *   stays unknown.
 */
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "merge.h"

static int is_one_clock(const struct merge *m, const struct arena_header *from) {
    return from->boot_id[0] && from->clock_kind == m->clock.kind &&
           !memcmp(from->boot_id, m->clock.boot_id, sizeof m->clock.boot_id);
}

void merge_map_clock(const struct merge *m, struct merge_map *map) {
    const struct arena_header *h = map->from;
    double later = (double)(int64_t)(h->start.real_ns - m->clock.start.real_ns);
    map->one_clock = m->expected == 1 || is_one_clock(m, h);
    map->rate = 1;
    if (!map->one_clock) {
        map->rate = map->run->snapshot.ns_per_tick / m->clock.ns_per_tick;
    }
    map->start_tick = (double)m->clock.start.ticks + later / m->clock.ns_per_tick;
}

uint64_t merge_tick(const struct merge_map *map, uint64_t tick) {
    if (map->one_clock) {
        return tick;
    }
    double at = map->start_tick + (double)(int64_t)(tick - map->from->start.ticks) * map->rate;
    return (uint64_t)double_min(double_max(at, 1), 4e18); /* 0 means no tick */
}

uint64_t merge_length(const struct merge_map *map, uint64_t ticks) {
    if (map->one_clock) {
        return ticks;
    }
    return snapshot_whole((double)ticks * map->rate + 0.5);
}

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

/* ---- Texts. */

static void about_compare(const struct merge *m, struct merge_about *a, const char *text) {
    if (!m->runs) {
        snprintf(a->text, sizeof a->text, "%s", text);
    }
    a->differ |= strncmp(a->text, text, sizeof a->text - 1) != 0;
}

/* Copies the cost of one run; several runs on different machines have no one cost. */
static void about_copy_cost(struct merge *m, const struct run *r) {
    const struct arena_cost *from = r->cost;
    uint32_t unit = 0;
    if (from) {
        unit = merge_file_get(&m->file, sizeof *from);
    }
    if (unit) {
        struct arena_cost *to = merge_file_at(&m->file, unit);
        memcpy(to, from, sizeof *from);
        to->conditions = 0;
        merge_file_header(&m->file)->cost = unit;
        if (*r->conditions) {
            uint32_t text = merge_names_text(&m->names, r->conditions, strlen(r->conditions));
            to = merge_file_at(&m->file, unit); /* the file may have moved */
            to->conditions = text;
        }
    }
}

void merge_about_add(struct merge *m, const struct merge_map *map) {
    struct arena_header *h = merge_file_header(&m->file);
    const struct run *r = map->run;
    about_add_times(m, map);
    about_compare(m, &m->host, r->host);
    about_compare(m, &m->program, r->program);
    about_compare(m, &m->command, r->command);
    about_compare(m, &m->cpu, r->cpu);
    about_compare(m, &m->compiler, r->compiler);
    about_compare(m, &m->clock_name, r->clock);
    about_compare(m, &m->gpu, r->gpu);
    h->about.cpus = (uint32_t)u64_max(h->about.cpus, r->cpus);
    m->killed += r->state == RUN_KILLED;
    m->reference += map->from->about.reference_ps;
    m->references += map->from->about.reference_ps != 0;
    if (m->expected == 1) {
        h->pid = r->pid;
        h->about.rank = r->rank;
        h->parent_pid = r->parent_pid;
        h->end = map->from->end;
        about_copy_cost(m, r);
    }
}

static uint32_t about_put(struct merge *m, const struct merge_about *a, const char *otherwise) {
    const char *text = a->differ ? otherwise : a->text;
    if (!*text) {
        return 0;
    }
    return merge_names_text(&m->names, text, strlen(text));
}

static uint32_t about_put_command(struct merge *m) {
    char text[ARENA_NAME_BYTES + 1], killed[40] = "";
    if (m->runs == 1) {
        return about_put(m, &m->command, "");
    }
    if (m->killed) {
        snprintf(killed, sizeof killed, " (%u killed)", m->killed);
    }
    const char *command = m->command.differ ? "several commands" : m->command.text;
    snprintf(text, sizeof text, "%u runs%s of %.800s", m->runs, killed, command);
    return merge_names_text(&m->names, text, strlen(text));
}

int merge_about_finish(struct merge *m) {
    struct arena_header *h = merge_file_header(&m->file);
    struct arena_about *about = &h->about;
    h->clock_kind = m->clock.kind;
    h->ticks_per_us = m->clock.ticks_per_us;
    h->start = m->start;
    if (m->expected > 1) {
        h->end = m->end;
    }
    h->process_start_ns = m->process_start_ns;
    memcpy(h->boot_id, m->clock.boot_id, sizeof h->boot_id);
    about->program = about_put(m, &m->program, "several programs");
    about->command = about_put_command(m);
    about->host = about_put(m, &m->host, "several hosts");
    about->cpu = about_put(m, &m->cpu, "several kinds");
    about->compiler = about_put(m, &m->compiler, "several compilers");
    about->clock = about_put(m, &m->clock_name, "several clocks");
    about->gpu = about_put(m, &m->gpu, "several back ends");
    if (m->references) {
        about->reference_ps = (uint32_t)(m->reference / m->references);
    }
    return m->file.failed ? -1 : 0;
}
