/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command info: prints the properties of a run, and how many records of each kind its file has.
 * A property that a damaged file lacks is printed as "?" or left out.
 */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "base/number.h"
#include "base/text.h"
#include "runfile/run_open.h"
#include "system/config.h"
#include "system/launch.h"
#include "system/log.h"
#include "tool/common/command.h"
#include "tool/common/run_view.h"

static void info_put(struct text *t, const char *key, const char *value) {
    text_add(t, "%-12s ", key);
    value = text_or_unknown(value);
    text_name(t, value, strlen(value), 0);
    text_put(t, "\n", 1);
}

static void info_put_number(struct text *t, const char *key, u128 n) {
    text_add(t, "%-12s %s\n", key, number_whole(n).text);
}

static void info_put_run(struct text *t, const struct run *r) {
    const struct arena_header *h = (const struct arena_header *)(const void *)r->snapshot.base;
    char line[128], started[64], wall[TEXT_NUMBER];
    info_put(t, "file", r->path);
    run_view_state(line, sizeof line, r);
    line[strcspn(line, ":")] = '\0';
    info_put(t, "state", line);
    info_put(t, "program", r->program);
    info_put(t, "command", r->command);
    info_put_number(t, "parent pid", r->parent_pid);
    run_view_time(started, sizeof started, r->start_real_ns);
    info_put(t, "started", started);
    text_time(wall, r->snapshot.wall_ns, CONFIG_UNIT_AUTO);
    const char *at_least = r->at_least ? "at least " : "";
    text_add(t, "%-12s %s%s\n", "wall", at_least, wall);
    launch_place(line, r->rank, r->local, r->size, r->job);
    if (*line) {
        info_put(t, "place", line);
    }
    if (r->clocks && *r->clocks) {
        info_put(t, "clocks", r->clocks);
    }
    info_put(t, "host", r->host);
    text_add(t, "%-12s %u x ", "cpu", r->cpus);
    text_name(t, r->cpu, strlen(r->cpu), 0);
    text_put(t, "\n", 1);
    info_put(t, "compiler", r->compiler);
    if (*r->conditions) {
        info_put(t, "conditions", r->conditions);
    }
    text_add(t, "%-12s ", "clock");
    text_name(t, r->clock, strlen(r->clock), 0);
    text_add(t, ", %s ticks per ns\n", number_fixed(1 / r->snapshot.ns_per_tick, 3).text);
    const char *gpu = *r->gpu ? r->gpu : "not asked for";
    info_put(t, "gpu", gpu);
    text_add(t, "%-12s %u\n", "format", h->abi);
    text_add(t, "%-12s %llu of %llu bytes\n", "in use", (unsigned long long)h->used,
             (unsigned long long)h->size);
}

struct sums {
    u128 calls, samples, gpu_calls;
    uint64_t scopes, intervals, histograms;
};

static void sums_add_nodes(const struct snapshot *s, struct sums *out) {
    uint32_t histogram = 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent == SNAPSHOT_NONE) {
            continue; /* the root of a thread, which is not a scope */
        }
        out->scopes += n->kind == STINT_IMPL_SCOPE_NODE;
        out->intervals += n->kind == STINT_IMPL_INTERVAL_NODE;
        out->calls += snapshot_calls(n) + n->recursions;
        out->samples += n->count;
        out->gpu_calls += n->measures->gpu_calls;
        out->histograms += n->histogram && n->histogram != histogram;
        out->histograms += n->extra->gpu.histogram != 0;
        histogram = n->histogram;
    }
}

/* "2 rows" and what follows it. */
static void info_put_noun(struct text *t, u128 n, const char *noun, const char *after) {
    text_add(t, "%s %s%s%s", number_whole(n).text, noun, text_plural(n), after);
}

static void info_put_copies(struct text *t, u128 n) {
    text_add(t, "%s %s, ", number_whole(n).text, n == 1 ? "copy" : "copies");
}

/* Nothing for a run without GPU tracing. */
static void info_put_activities(struct text *t, const struct snapshot *s) {
    u128 count[ACTIVITY_KINDS] = {0};
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        count[s->activities[i].kind] += s->activities[i].count;
    }
    u128 calls = count[ACTIVITY_API] + count[ACTIVITY_DRIVER];
    if (s->activity_count) {
        text_add(t, "%-12s ", "activities");
        info_put_noun(t, s->activity_count, "row", ": ");
        info_put_noun(t, count[ACTIVITY_KERNEL], "kernel", ", ");
        info_put_copies(t, count[ACTIVITY_COPY]);
        info_put_noun(t, count[ACTIVITY_FILL], "fill", ", ");
        info_put_noun(t, calls, "API call", "\n");
    }
}

static void info_put_counts(struct text *t, const struct run *r) {
    const struct snapshot *s = &r->snapshot;
    struct sums sums = {0};
    uint64_t threads = 0, alive = 0, open = 0;
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        threads += s->threads[i].uses;
        alive += s->threads[i].alive != 0;
        open += s->threads[i].open_count;
    }
    sums_add_nodes(s, &sums);
    const char *alive_word = r->state == RUN_LIVE ? "running" : "not ended by then";
    text_add(t, "%-12s %llu, %llu of them %s\n", "threads", (unsigned long long)threads,
             (unsigned long long)alive, alive_word);
    info_put_number(t, "open scopes", open);
    info_put_number(t, "calls", sums.calls);
    info_put_number(t, "samples", sums.samples);
    info_put_number(t, "GPU samples", sums.gpu_calls);
    info_put_number(t, "steps", s->steps);
    info_put_number(t, "sites", s->site_count);
    info_put_number(t, "sets", s->set_count);
    info_put_number(t, "tree nodes", sums.scopes);
    info_put_number(t, "intervals", sums.intervals);
    info_put_number(t, "histograms", sums.histograms);
    info_put_activities(t, s);
    for (uint32_t i = 0; i < s->device_count; ++i) {
        info_put(t, "device", s->devices[i].name);
    }
}

static void info_put_trace(struct text *t, const struct trace_count *trace) {
    if (!trace->rings) {
        info_put(t, "trace", "none (STINT_TRACE=64M keeps one)");
        return;
    }
    text_add(t, "%-12s ", "trace");
    info_put_noun(t, trace->rings, "ring", ", ");
    info_put_noun(t, trace->kinds[TRACE_SPAN], "span", ", ");
    info_put_noun(t, trace->kinds[TRACE_MARK], "mark", ", ");
    info_put_noun(t, trace->kinds[TRACE_VALUE], "value", ", ");
    info_put_noun(t, trace->overwritten, "older event", " overwritten\n");
}

static void info_put_lost(struct text *t, const struct snapshot *s) {
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        if (s->lost[i]) {
            text_add(t, "%-12s %llu %s\n", "lost", (unsigned long long)s->lost[i],
                     status_text(i)->text);
        }
    }
}

static int info_file(const char *path, int first) {
    struct run r;
    struct text t;
    if (run_open(&r, path)) {
        return COMMAND_BAD;
    }
    text_start(&t);
    text_put(&t, "\n", !first);
    struct trace_count trace;
    int failed = trace_count(&trace, &r.snapshot);
    info_put_run(&t, &r);
    info_put_counts(&t, &r);
    info_put_trace(&t, &trace);
    info_put_lost(&t, &r.snapshot);
    if (failed || t.failed) {
        log_error("%.500s: not enough memory for all of it", path);
    }
    failed |= command_write(t.data, t.length);
    int status = COMMAND_FAILED;
    if (!failed) {
        status = command_warn(&r);
    }
    text_free(&t);
    run_close(&r);
    return status;
}

int cmd_info(int argc, char **argv) {
    int status = options_parse(TOOL_INFO, argc, argv, NULL, NULL);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "a run file is missing");
    }
    status = COMMAND_GOOD;
    for (int i = optind; i < argc; ++i) {
        status = command_worse(status, info_file(argv[i], i == optind));
    }
    return status;
}
