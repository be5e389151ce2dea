/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - Ticks of one boot and kind of clock are the same everywhere: they stay as they are, to the last
 *   digit. Those of another are laid beside them by the time of day, which the machines are assumed
 *   to agree on.
 * - The header's two stamps are those of the run that began first and of the one that ended
 *   last: the length of a tick is told over the longest time there is. One killed run alone has no
 *   end, as before.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "merge.h"

static int is_one_clock(const struct merge *m, const struct arena_header *from) {
    return from->boot_id[0] && from->clock_kind == m->clock.kind &&
           !memcmp(from->boot_id, m->clock.boot_id, sizeof m->clock.boot_id);
}

void merge_map_clock(const struct merge *m, struct merge_map *map) {
    const struct arena_header *h = map->from;
    double later = (double)(int64_t)(h->start.real_ns - m->clock.start.real_ns);
    map->one_clock = m->expected == 1 || is_one_clock(m, h);
    map->rate = map->one_clock ? 1 : map->run->snapshot.ns_per_tick / m->clock.ns_per_tick;
    map->start_tick = (double)m->clock.start.ticks + later / m->clock.ns_per_tick;
}

uint64_t merge_tick(const struct merge_map *map, uint64_t tick) {
    if (map->one_clock) {
        return tick;
    }
    double at = map->start_tick + (double)(int64_t)(tick - map->from->start.ticks) * map->rate;
    return at < 1 ? 1 : at < 4e18 ? (uint64_t)at : (uint64_t)4e18;
}

uint64_t merge_length(const struct merge_map *map, uint64_t ticks) {
    double length = (double)ticks * map->rate;
    return map->one_clock ? ticks : length < 1.8e19 ? (uint64_t)(length + 0.5) : UINT64_MAX;
}

/* ---- Start and end. */

static struct clock_stamp stamp_of(const struct merge *m, const struct merge_map *map,
                                   const struct clock_stamp *from) {
    struct clock_stamp to = *from;
    if (!map->one_clock) {
        to.ticks = merge_tick(map, from->ticks);
        double since = ((double)to.ticks - (double)m->clock.start.ticks) * m->clock.ns_per_tick;
        double at = (double)m->clock.start.monotonic_ns + since;
        to.monotonic_ns = at < 1 ? 1 : snapshot_whole(at);
    }
    return to;
}

static void add_times(struct merge *m, const struct merge_map *map) {
    struct clock_stamp start = stamp_of(m, map, &map->from->start);
    struct clock_stamp end = stamp_of(m, map, &map->run->snapshot.now);
    uint64_t before = map->from->start.monotonic_ns - map->run->snapshot.start_ns;
    uint64_t process =
        before < start.monotonic_ns ? start.monotonic_ns - before : start.monotonic_ns;
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

/* ---- Words. */

static void agree(const struct merge *m, struct merge_about *a, const char *text) {
    if (!m->runs) {
        snprintf(a->text, sizeof a->text, "%s", text);
    }
    a->differ |= strncmp(a->text, text, sizeof a->text - 1) != 0;
}

void merge_about_add(struct merge *m, const struct merge_map *map) {
    struct arena_header *h = merge_file_header(&m->file);
    const struct run *r = map->run;
    add_times(m, map);
    agree(m, &m->host, r->host);
    agree(m, &m->program, r->program);
    agree(m, &m->command, r->command);
    agree(m, &m->cpu, r->cpu);
    agree(m, &m->compiler, r->compiler);
    agree(m, &m->clock_name, r->clock);
    agree(m, &m->gpu, r->gpu);
    h->about.cpus = r->cpus > h->about.cpus ? r->cpus : h->about.cpus;
    m->killed += r->state == RUN_KILLED;
    m->reference += map->from->about.reference_ps;
    m->references += map->from->about.reference_ps != 0;
    if (m->expected == 1) {
        h->pid = r->pid;
        h->parent_pid = r->parent_pid;
        h->end = map->from->end;
    }
}

static uint32_t put(struct merge *m, const struct merge_about *a, const char *otherwise) {
    const char *text = a->differ ? otherwise : a->text;
    return *text ? merge_names_text(&m->names, text, strlen(text)) : 0;
}

static uint32_t put_command(struct merge *m) {
    char text[ARENA_NAME_BYTES + 1], killed[40] = "";
    if (m->runs == 1) {
        return put(m, &m->command, "");
    }
    if (m->killed) {
        snprintf(killed, sizeof killed, " (%u killed)", m->killed);
    }
    int n = snprintf(text, sizeof text, "%u runs%s of %.800s", m->runs, killed,
                     m->command.differ ? "several commands" : m->command.text);
    return merge_names_text(&m->names, text, n > 0 ? (size_t)n : 0);
}

int merge_about_finish(struct merge *m) {
    struct arena_header *h = merge_file_header(&m->file);
    struct arena_about *about = &h->about;
    h->clock_kind = m->clock.kind;
    h->ticks_per_us = m->clock.ticks_per_us;
    h->start = m->start;
    h->end = m->expected > 1 ? m->end : h->end;
    h->process_start_ns = m->process_start_ns;
    memcpy(h->boot_id, m->clock.boot_id, sizeof h->boot_id);
    about->program = put(m, &m->program, "several programs");
    about->command = put_command(m);
    about->host = put(m, &m->host, "several hosts");
    about->cpu = put(m, &m->cpu, "several kinds");
    about->compiler = put(m, &m->compiler, "several compilers");
    about->clock = put(m, &m->clock_name, "several clocks");
    about->gpu = put(m, &m->gpu, "several back ends");
    about->reference_ps = m->references ? (uint32_t)(m->reference / m->references) : 0;
    return m->file.failed ? -1 : 0;
}
