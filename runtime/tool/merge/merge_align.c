/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the calls of waiting scopes from the traces of the runs, and aligns the clocks of the
 * hosts by them. cmd_merge.c adds the runs, merge_about.c asks for times.
 * - A scope counts if every run with a trace has it, on one thread: its n-th call is then the same
 *   one everywhere. Calls are numbered from the last one, since a ring has lost the first ones.
 * - No rank leaves a call before the last one has come to it. So the difference of two clocks is at
 *   most that from the last arrival on one host to the first leave on the other, in both
 *   directions. A scope for which this cannot be, as one that waits for one other rank, is not
 *   used; nor is one that ranks leave as irregularly as they come, nor are several that contradict
 *   each other.
 */
#include "merge.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/role.h"
#include "base/text.h"
#include "stint/stint.h"
#include "system/config.h"

#define ROOM_FIRST 16u
#define POINTS_MOST 2000u /* of a scope and a host: the last ones */
#define NS_PER_S 1e9
#define IRREGULAR_TIMES 4.0
#define TOGETHER_NS 50000.0 /* ranks that leave a call within this time leave it together */
#define NAME_COLUMNS 40u
#define NAME_BYTES_SHOWN 160u /* of so many columns, at most */
#define SEVERAL UINT32_MAX    /* in place of a thread */

/* The runs of one boot with one kind of clock, whose ticks are comparable. */
struct align_host {
    char boot_id[40];
    uint32_t kind;
    struct clock_stamp start; /* of its first run, as the next */
    double ns_per_tick;
    double first_ns; /* when its traces begin and end, in nanoseconds of its clock after start */
    double last_ns;
    /* To the clock of the first host, beside the time of day: offset + rate * (time - middle). */
    int known;
    double offset_ns;
    double rate;
    double middle_ns;
    double error_ns; /* at most so much, from the first to the last */
};

struct align_name {
    char *text; /* name and set */
    uint32_t length;
    uint32_t runs; /* that have it, on one thread */
};

/* When a run came to a call, and when it left; of several runs, the last one and the first one.
 * Nanoseconds of the host's clock after its start. */
struct call_times {
    double enter;
    double leave;
};

/* A name in one run. */
struct align_calls {
    uint32_t name;
    uint32_t thread; /* or SEVERAL */
    uint64_t calls;  /* all, of which the last `kept` are in the trace */
    uint32_t kept;
    uint32_t room;
    struct call_times *time;
};

struct align_run {
    uint32_t host;
    struct align_calls *calls;
    uint32_t count;
    uint32_t room;
};

int merge_align_start(struct merge_align *a) {
    memset(a, 0, sizeof *a);
    return hash_map_start(&a->known, &a->memory, ROOM_FIRST);
}

void merge_align_end(struct merge_align *a) {
    scratch_free(&a->memory);
}

/* ---- Hosts. */

/* NULL: there is none. */
static struct align_host *host_find(const struct merge_align *a, const struct arena_header *h) {
    for (uint32_t i = 0; h->boot_id[0] && i < a->host_count; ++i) {
        struct align_host *host = &a->host[i];
        if (host->kind == h->clock_kind && !memcmp(host->boot_id, h->boot_id, sizeof h->boot_id)) {
            return host;
        }
    }
    return NULL;
}

/* Returns its number; UINT32_MAX without memory. */
static uint32_t host_find_or_add(struct merge_align *a, const struct run *r) {
    const struct arena_header *h = (const struct arena_header *)(const void *)r->snapshot.base;
    const struct align_host *known = host_find(a, h);
    if (known) {
        return (uint32_t)(known - a->host);
    }
    a->host =
        scratch_array_grow(&a->memory, a->host, a->host_count, &a->host_room, sizeof *a->host);
    if (!a->host) {
        return UINT32_MAX;
    }
    struct align_host *host = &a->host[a->host_count];
    memset(host, 0, sizeof *host);
    memcpy(host->boot_id, h->boot_id, sizeof host->boot_id);
    host->kind = h->clock_kind;
    host->start = h->start;
    host->ns_per_tick = r->snapshot.ns_per_tick;
    return a->host_count++;
}

/* A time since the start of the run. */
static double host_time(const struct align_host *host, const struct run *r, uint64_t ns) {
    const struct snapshot *s = &r->snapshot;
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    double since = (double)(int64_t)(ns + s->start_ns - h->start.monotonic_ns) / s->ns_per_tick;
    return (since + (double)(int64_t)(h->start.ticks - host->start.ticks)) * host->ns_per_tick;
}

/* Between the starts of a host and of the first one, by the time of day. */
static double host_later(const struct merge_align *a, const struct align_host *host) {
    return (double)(int64_t)(host->start.real_ns - a->host[0].start.real_ns);
}

int merge_align_clock(const struct merge_align *a, const struct arena_header *h, double *ns,
                      double *rate) {
    const struct align_host *host = host_find(a, h);
    if (!host) {
        return -1;
    }
    double since = (double)(int64_t)(h->start.ticks - host->start.ticks) * host->ns_per_tick;
    double correction = host->offset_ns + host->rate * (since - host->middle_ns);
    *ns = host_later(a, host) + since + correction;
    *rate = host->ns_per_tick * (1 + host->rate);
    return 0;
}

/* ---- The calls of a run. */

/* The number of a name and set; UINT32_MAX without memory. */
static uint32_t name_find_or_add(struct merge_align *a, const char *name, const char *set) {
    struct hash_map_walk walk;
    size_t length = strlen(name) + strlen(set) + 2;
    char *text = scratch_get(&a->memory, length);
    if (!text) {
        return UINT32_MAX;
    }
    snprintf(text, length, "%s%c%s", name, '\n', set);
    uint32_t hash = (uint32_t)hash_bytes(text, length);
    uint32_t i = hash_map_first(&a->known, hash, &walk);
    while (i != HASH_MAP_NONE &&
           (a->name[i].length != length || memcmp(a->name[i].text, text, length))) {
        i = hash_map_next(&a->known, &walk);
    }
    if (i != HASH_MAP_NONE) {
        return i;
    }
    a->name =
        scratch_array_grow(&a->memory, a->name, a->name_count, &a->name_room, sizeof *a->name);
    if (!a->name || hash_map_add(&a->known, hash, a->name_count)) {
        return UINT32_MAX;
    }
    a->name[a->name_count] = (struct align_name){.text = text, .length = (uint32_t)length};
    return a->name_count++;
}

/* Whether it has calls that wait. */
static int is_waiting_node(const struct snapshot *s, const struct snapshot_node *n) {
    return n->count && n->site && s->sites[n->site].name && role_waits(s->sites[n->site].role);
}

static struct align_calls *calls_find(const struct align_run *run, uint32_t name) {
    for (uint32_t i = 0; i < run->count; ++i) {
        if (run->calls[i].name == name) {
            return &run->calls[i];
        }
    }
    return NULL;
}

/* The calls of a name in a run. NULL without memory. */
static struct align_calls *calls_find_or_add(struct merge_align *a, struct align_run *run,
                                             uint32_t name, uint32_t thread) {
    struct align_calls *calls = calls_find(run, name);
    if (calls || name == UINT32_MAX) {
        return calls;
    }
    run->calls =
        scratch_array_grow(&a->memory, run->calls, run->count, &run->room, sizeof *run->calls);
    if (!run->calls) {
        return NULL;
    }
    calls = &run->calls[run->count++];
    *calls = (struct align_calls){.name = name, .thread = thread};
    return calls;
}

/* Fills of[], by node: its entry + 1, 0 = it does not wait. */
static int list_waiting_nodes(struct merge_align *a, struct align_run *run,
                              const struct snapshot *s, uint32_t *of) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (!is_waiting_node(s, n)) {
            continue;
        }
        uint32_t name = name_find_or_add(a, s->sites[n->site].name, s->sets[n->set]);
        struct align_calls *calls = calls_find_or_add(a, run, name, n->thread);
        if (!calls) {
            return -1;
        }
        if (calls->thread != n->thread || n->extra->untimed) { /* else all are in the trace */
            calls->thread = SEVERAL;
        }
        calls->calls += n->count;
        of[i] = (uint32_t)(calls - run->calls) + 1;
    }
    return 0;
}

static int take_events(struct merge_align *a, struct align_run *run, struct run *r,
                       const uint32_t *of, uint32_t lane) {
    struct align_host *host = &a->host[run->host];
    const struct trace_event *e;
    struct trace_walk walk;
    for (trace_walk_start(&walk, &r->trace, lane); (e = trace_walk_next(&walk));) {
        struct call_times time = {host_time(host, r, e->start_ns),
                                  host_time(host, r, e->start_ns + e->duration_ns)};
        host->first_ns = double_min(host->first_ns, time.enter);
        host->last_ns = double_max(host->last_ns, time.leave);
        if (e->kind != TRACE_SPAN || e->node >= r->snapshot.node_count || !of[e->node]) {
            continue;
        }
        struct align_calls *calls = &run->calls[of[e->node] - 1];
        calls->time = scratch_array_grow(&a->memory, calls->time, calls->kept, &calls->room,
                                         sizeof *calls->time);
        if (!calls->time) {
            return -1;
        }
        calls->time[calls->kept++] = time;
    }
    return 0;
}

int merge_align_add(struct merge_align *a, struct run *r) {
    struct snapshot *s = &r->snapshot;
    uint32_t host = host_find_or_add(a, r);
    a->run = scratch_array_grow(&a->memory, a->run, a->run_count, &a->run_room, sizeof *a->run);
    uint32_t *of = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *of);
    if (host == UINT32_MAX || !a->run || !of || run_trace(r)) {
        return -1;
    }
    if (!r->trace.event_count) {
        return 0;
    }
    struct align_run *run = &a->run[a->run_count++];
    *run = (struct align_run){.host = host};
    ++a->traced;
    int failed = list_waiting_nodes(a, run, s, of);
    for (uint32_t i = 0; i < r->trace.lane_count && !failed; ++i) {
        failed = take_events(a, run, r, of, i);
    }
    if (failed) {
        return -1;
    }
    for (uint32_t i = 0; i < run->count; ++i) {
        struct align_calls *calls = &run->calls[i];
        if (calls->thread != SEVERAL && calls->kept && calls->kept <= calls->calls) {
            ++a->name[calls->name].runs;
        }
    }
    return 0;
}

/* ---- Differences of clocks. */

/* A name in the runs of two hosts: those of the first host, then those of the other one. */
struct common_calls {
    const struct align_calls **of;
    uint32_t here;
    uint32_t all;
    uint64_t from; /* the calls that all of them have in their traces */
    uint64_t to;
};

static void common_add(struct common_calls *c, const struct align_run *run, uint32_t host,
                       uint32_t name) {
    const struct align_calls *calls = NULL;
    if (run->host == host) {
        calls = calls_find(run, name);
    }
    if (calls) {
        c->of[c->all++] = calls;
        c->from = u64_max(c->from, calls->calls - calls->kept);
        c->to = u64_min(c->to, calls->calls);
    }
}

/* of: room for all runs. */
static struct common_calls find_common_calls(const struct merge_align *a, uint32_t host,
                                             uint32_t name, const struct align_calls **of) {
    struct common_calls c = {.of = of, .to = UINT64_MAX};
    for (uint32_t i = 0; i < a->run_count; ++i) {
        common_add(&c, &a->run[i], 0, name);
    }
    c.here = c.all;
    for (uint32_t i = 0; i < a->run_count; ++i) {
        common_add(&c, &a->run[i], host, name);
    }
    if (!c.here || c.here == c.all) { /* a host without a trace */
        c.to = 0;
    }
    if (c.to > c.from + POINTS_MOST) {
        c.from = c.to - POINTS_MOST;
    }
    return c;
}

static struct call_times find_call_times(const struct common_calls *c, uint32_t first, uint32_t end,
                                         uint64_t number) {
    struct call_times times = {-1e300, 1e300};
    for (uint32_t i = first; i < end; ++i) {
        const struct align_calls *calls = c->of[i];
        uint64_t at = number - (calls->calls - calls->kept);
        times.enter = double_max(times.enter, calls->time[at].enter);
        times.leave = double_min(times.leave, calls->time[at].leave);
    }
    return times;
}

/* Adds the points of a name; returns how many. */
static uint32_t add_points(const struct merge_align *a, uint32_t host, uint32_t name,
                           const struct align_calls **of, struct align_point *out) {
    const struct align_host *there = &a->host[host];
    double later = host_later(a, there);
    struct common_calls c = find_common_calls(a, host, name, of);
    uint32_t count = 0;
    for (uint64_t n = c.from; n < c.to; ++n) {
        struct call_times first = find_call_times(&c, 0, c.here, n);
        struct call_times other = find_call_times(&c, c.here, c.all, n);
        out[count++] = (struct align_point){.at = (other.leave - there->middle_ns) / NS_PER_S,
                                            .low = first.enter - other.leave - later,
                                            .high = first.leave - other.enter - later,
                                            .likely = first.leave - other.leave - later,
                                            .enter = first.enter - other.enter - later};
    }
    return count;
}

static double absolute_double(double v) {
    return double_max(v, -v);
}

static int host_fit(struct align_host *host, const struct align_point *point, uint32_t count) {
    struct align_line line;
    double from = (host->first_ns - host->middle_ns) / NS_PER_S;
    double to = (host->last_ns - host->middle_ns) / NS_PER_S;
    if (align_fit(&line, &host->error_ns, point, count, from, to)) {
        return -1;
    }
    host->offset_ns = line.offset;
    host->rate = line.rate / NS_PER_S;
    return 0;
}

/* The difference of the clocks at a point. */
static double host_line(const struct align_host *host, const struct align_point *point) {
    return host->offset_ns + host->rate * point->at * NS_PER_S;
}

/* Whether the runs leave the calls together, by the clock that was fitted to them: how they come is
 * at least several times as irregular as how they leave. Runs that wait for some others only leave
 * as irregularly as they come. */
static int is_left_together(const struct align_host *host, const struct align_point *point,
                            uint32_t count) {
    double mean = 0, come = 0, leave = 0;
    for (uint32_t i = 0; i < count; ++i) {
        mean += (point[i].enter - host_line(host, &point[i])) / count;
    }
    for (uint32_t i = 0; i < count; ++i) {
        double line = host_line(host, &point[i]);
        come += absolute_double(point[i].enter - line - mean) / count;
        leave += absolute_double(point[i].likely - line) / count;
    }
    return leave <= come / IRREGULAR_TIMES + TOGETHER_NS;
}

/* The calls that a host's clock is known by. */
struct align_by {
    uint32_t name; /* that with the most; UINT32_MAX: none */
    uint32_t calls;
    uint32_t points;
};

/* Room for the calls of all runs, and for the points of all names. */
struct align_room {
    const struct align_calls **of;
    struct align_point *point;
};

/* By all names that can be of calls which all ranks leave together. */
static void host_solve(struct merge_align *a, uint32_t number, const struct align_room *room,
                       struct align_by *by) {
    struct align_point *point = room->point;
    struct align_host *host = &a->host[number];
    uint32_t count = 0;
    *by = (struct align_by){.name = UINT32_MAX};
    host->middle_ns = (host->first_ns + host->last_ns) / 2;
    for (uint32_t i = 0; i < a->name_count; ++i) {
        if (a->name[i].runs != a->traced) {
            continue;
        }
        uint32_t more = add_points(a, number, i, room->of, point + count);
        if (host_fit(host, point + count, more) || !is_left_together(host, point + count, more)) {
            continue;
        }
        count += more;
        if (more > by->calls) {
            by->name = i;
            by->calls = more;
        }
    }
    by->points = count;
    host->known = count && !host_fit(host, point, count);
    if (!host->known) { /* several that contradict each other, too */
        host->offset_ns = host->rate = host->error_ns = 0;
    }
}

/* ---- */

static void say_exactness(struct merge_align *a, const struct align_by *by, uint32_t unknown) {
    char error[TEXT_NUMBER], rest[80] = "";
    double most = 0;
    uint32_t known = a->host_count - 1 - unknown;
    for (uint32_t i = 1; i < a->host_count; ++i) {
        most = double_max(most, a->host[i].error_ns);
    }
    /* Four digits are printed: rounded up. */
    text_time(error, snapshot_whole(most * 1.001 + 1), CONFIG_UNIT_AUTO);
    if (!known) {
        snprintf(a->text, sizeof a->text, "%u other host%s by the time of day, error not known",
                 unknown, text_plural(unknown));
        return;
    }
    if (unknown) {
        snprintf(rest, sizeof rest, "; %u by the time of day, error not known", unknown);
    }
    struct text name;
    text_start(&name);
    text_name(&name, a->name[by->name].text, strcspn(a->name[by->name].text, "\n"), NAME_COLUMNS);
    snprintf(a->text, sizeof a->text, "%u other host%s by %u calls of %.*s, within %s%s", known,
             text_plural(known), by->calls, (int)u64_min(name.length, NAME_BYTES_SHOWN), name.data,
             error, rest);
    text_free(&name);
}

/* A host has at most as many as any run has calls of the names that all runs have. */
static size_t count_points(const struct align_run *run) {
    size_t count = 0;
    for (uint32_t i = 0; i < run->count; ++i) {
        count += u64_min(run->calls[i].kept, POINTS_MOST);
    }
    return count;
}

int merge_align_solve(struct merge_align *a) {
    struct align_by by = {.name = UINT32_MAX}, of;
    uint32_t unknown = 0;
    if (a->host_count < 2 || !a->traced) {
        return 0;
    }
    struct align_room room;
    size_t points = count_points(&a->run[0]);
    room.of = scratch_array(&a->memory, (size_t)a->run_count + 1, sizeof *room.of);
    room.point = scratch_array(&a->memory, points + 1, sizeof *room.point);
    if (!room.of || !room.point) {
        return -1;
    }
    for (uint32_t i = 1; i < a->host_count; ++i) {
        host_solve(a, i, &room, &of);
        if (!a->host[i].known) {
            ++unknown;
        } else if (by.name == UINT32_MAX || of.calls < by.calls) {
            by = of; /* the one with the fewest calls: it is as exact as that */
        }
    }
    say_exactness(a, &by, unknown);
    return 0;
}
