/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines under every report: the cost of stint itself, losses, open scopes, the resources that
 * the process used.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "base/name.h"
#include "base/number.h"
#include "model/columns.h"
#include "report_cost.h"
#include "system/config.h"
#include "system/machine.h"

#define DOMINANT 5        /* sites named with the cost */
#define STEP "stint_step" /* the name stint_step() records under */

void report_losses(const struct report *r, const char *indent) {
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        if (r->snapshot->lost[i]) {
            text_add(r->out, "%s%llu %s\n", indent, (unsigned long long)r->snapshot->lost[i],
                     status_text(i)->text);
        }
    }
}

/* Nanoseconds: what calls cost at least, and about at most. */
struct cost_range {
    double least;
    double most;
};

static struct cost_range node_cost_sum(const struct node_cost *c) {
    struct cost_range sum = {c->ns_calls + c->ns_readings, c->most_calls + c->ns_readings};
    return sum;
}

/* A thread spends no more than the time of the run, whatever a call cost when it was measured. */
static void thread_cost_limit(struct node_cost *c, double wall_ns) {
    double least = c->ns_calls + c->ns_readings;
    if (least > wall_ns) {
        c->ns_calls *= wall_ns / least;
        c->ns_readings *= wall_ns / least;
    }
    c->most_calls = double_min(c->most_calls, wall_ns - c->ns_readings);
}

/* The cost on all threads. *highest: on the thread where it is highest. */
static struct node_cost count_cost(const struct report *r, struct cost_range *highest) {
    struct node_cost all = {0}, here = all;
    const struct snapshot *s = r->snapshot;
    *highest = (struct cost_range){0, 0};
    for (uint32_t i = 0; i < s->node_count; ++i) {
        node_cost_add(&here, r, &s->nodes[i]);
        if (i + 1 < s->node_count && s->nodes[i + 1].thread == s->nodes[i].thread) {
            continue;
        }
        if (s->wall_ns) {
            thread_cost_limit(&here, (double)s->wall_ns);
        }
        struct cost_range sum = node_cost_sum(&here);
        highest->least = double_max(highest->least, sum.least);
        highest->most = double_max(highest->most, sum.most);
        all.calls += here.calls;
        all.plain += here.plain;
        all.readings += here.readings;
        all.ns_calls += here.ns_calls;
        all.ns_readings += here.ns_readings;
        all.most_calls += here.most_calls;
        here = (struct node_cost){0};
    }
    return all;
}

/* "7 ns", or "7 ns to 20 ns" where the two differ as they are printed. */
static void put_cost_range(struct text *out, struct cost_range ns) {
    char least[TEXT_NUMBER], most[TEXT_NUMBER];
    text_time(least, snapshot_whole(ns.least), CONFIG_UNIT_AUTO);
    text_time(most, snapshot_whole(ns.most), CONFIG_UNIT_AUTO);
    text_add(out, "%s", least);
    if (ns.most > ns.least && strcmp(least, most) != 0) {
        text_add(out, " to %s", most);
    }
}

/* "12 calls at about 7 ns to 20 ns". For no call it is the cost of one. */
static void put_cost_each(struct text *out, u128 count, const char *what, struct cost_range ns,
                          uint64_t of_one) {
    struct cost_range mean = {(double)of_one / 1000 + 0.5, 0};
    if (count) {
        mean.least = ns.least / (double)count + 0.5;
        mean.most = ns.most / (double)count + 0.5;
    }
    text_add(out, "%s %s%s at about ", number_whole(count).text, what, text_plural(count));
    put_cost_range(out, mean);
}

/* The cost on the thread where it is highest, as a share of the wall time. */
static uint64_t cost_ppm(const struct snapshot *s, double ns) {
    if (!s->wall_ns) {
        return 0;
    }
    return snapshot_whole(ns * 1e6 / (double)s->wall_ns);
}

/* "at least 0.3 %", or "0.3 to 1.2 %". */
static void put_cost_share(const struct report *r, struct cost_range highest) {
    char least[TEXT_NUMBER], most[TEXT_NUMBER];
    text_share(least, cost_ppm(r->snapshot, highest.least));
    text_share(most, cost_ppm(r->snapshot, highest.most));
    if (r->cost->cold && strcmp(least, most) != 0) {
        text_add(r->out, "%s to %s %%", least, most);
    } else {
        const char *bound = r->cost->cold ? "about" : "at least";
        text_add(r->out, "%s %s %%", bound, least);
    }
}

static void put_cost(const struct report *r, const struct node_cost *c, struct cost_range highest) {
    struct cost_range calls = {c->ns_calls, c->most_calls};
    struct cost_range readings = {c->ns_readings, c->ns_readings};
    text_add(r->out, "stint cost ");
    put_cost_share(r, highest);
    text_add(r->out, " of this run: ");
    put_cost_each(r->out, c->calls, "call", calls, r->cost->timed);
    if (c->readings) {
        text_add(r->out, ", ");
        put_cost_each(r->out, c->readings, "measured call", readings, 0);
        text_add(r->out, " more");
    }
    text_add(r->out, ", ");
    put_cost_range(r->out, node_cost_sum(c));
    text_add(r->out, " in all");
    if (c->plain) {
        text_add(r->out, ", %s call%s of code built without -O", number_whole(c->plain).text,
                 text_plural(c->plain));
    }
    if (r->cost->ranges) {
        text_add(r->out, ", without NVTX");
    }
}

static void put_calls(const struct report *r) {
    struct snapshot *s = r->snapshot;
    struct scratch_mark before = scratch_mark(&s->memory);
    struct rows rows;
    struct cost_range highest;
    struct node_cost cost = count_cost(r, &highest);
    u128 all = cost.calls;
    if (r->cost) {
        put_cost(r, &cost, highest);
    } else {
        text_add(r->out, "%s call%s", number_whole(all).text, text_plural(all));
    }
    uint32_t *order = NULL;
    if (!rows_calls(&rows, s)) {
        order = report_sort(s, &rows, report_column_find("calls", 5));
    }
    for (uint32_t i = 0; order && i < rows.count && i < DOMINANT; ++i) {
        const struct stint_row *row = &rows.row[order[i]];
        if (row->calls * 200 < all || !row->calls) {
            break; /* would be 0 % */
        }
        text_add(r->out, i ? ", " : "; most of them ");
        text_name(r->out, row->name, row->name_length, 24);
        double percent = 100.0 * (double)row->calls / (double)all;
        text_add(r->out, " %s %%", number_fixed(percent, 0).text);
    }
    scratch_release(&s->memory, before);
    text_put(r->out, "\n", 1);
}

static void put_open(const struct report *r) {
    const struct snapshot *s = r->snapshot;
    for (uint32_t t = 0; t < s->thread_count; ++t) {
        const struct snapshot_thread *thread = &s->threads[t];
        char age[TEXT_NUMBER];
        if (!thread->open_count) {
            continue;
        }
        text_put(r->out, "open: ", 6);
        for (uint32_t i = 0; i < thread->open_count; ++i) {
            const struct snapshot_site *site = &s->sites[s->nodes[thread->open[i].node].site];
            text_put(r->out, " > ", i ? 3 : 0);
            text_name(r->out, site->name ? site->name : "?", site->length, 40);
        }
        if (thread->open[thread->open_count - 1].untimed) {
            text_add(r->out, ", untimed, thread %u\n", thread->tid);
            continue;
        }
        text_time(age, snapshot_ns(s, thread->open[thread->open_count - 1].ticks),
                  CONFIG_UNIT_AUTO);
        text_add(r->out, ", for %s%s, thread %u\n", r->about->killed ? "at least " : "", age,
                 thread->tid);
    }
    /* Less than 0: an end was seen whose begin came after its thread had been read. */
    if ((int64_t)s->open_intervals > 0) {
        text_add(r->out, "open: %llu interval%s, begun and not ended\n",
                 (unsigned long long)s->open_intervals, text_plural(s->open_intervals));
    }
}

static int any_interval(const struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (s->nodes[i].kind == STINT_IMPL_INTERVAL_NODE) {
            return 1;
        }
    }
    return 0;
}

static void put_percentile(const struct report *r, char out[TEXT_NUMBER],
                           const struct stint_row *row, struct row_field field) {
    text_time_or_more(r->out, out, row_number(row, field), row_is_beyond(row, field),
                      CONFIG_UNIT_AUTO);
}

/* The first step of the program has no sample; other steps that have none were not to be
 * recorded. */
static void footer_put_steps(const struct report *r) {
    char avg[TEXT_NUMBER], p50[TEXT_NUMBER], p99[TEXT_NUMBER], max[TEXT_NUMBER];
    struct snapshot *s = r->snapshot;
    struct scratch_mark before = scratch_mark(&s->memory);
    struct rows rows;
    uint32_t count = 0;
    if (!any_interval(s)) {
        return;
    }
    if (!rows_flat(&rows, s, 0)) {
        count = rows.count;
    }
    for (uint32_t i = 0; i < count; ++i) {
        const struct stint_row *row = &rows.row[i];
        if (!name_is(row->name, row->name_length, STEP) || row->set ||
            row->kind != STINT_IMPL_INTERVAL_NODE || !row->samples) {
            continue;
        }
        text_add(r->out, "steps: ");
        if (s->steps > row->samples + 1) {
            text_add(r->out, "%s of ", number_whole(row->samples).text);
        }
        text_add(r->out, "%s", number_whole(u128_max(s->steps, row->samples)).text);
        text_time(avg, row->avg_ns, CONFIG_UNIT_AUTO);
        put_percentile(r, p50, row, (struct row_field)ROW_FIELD(percentile_ns[PERCENTILE_P50]));
        put_percentile(r, p99, row, (struct row_field)ROW_FIELD(percentile_ns[PERCENTILE_P99]));
        text_time(max, row->max_ns, CONFIG_UNIT_AUTO);
        if (row->total_ns) {
            double rate = (double)row->samples * 1e9 / (double)row->total_ns;
            struct number n = rate < 999.5 ? number_short(rate, 3) : number_fixed(rate, 0);
            text_add(r->out, ", %s a second", n.text);
        }
        text_add(r->out, ", wall avg %s", avg);
        if (row->has & ROW_HISTOGRAM) {
            text_add(r->out, ", p50 %s, p99 %s", p50, p99);
        }
        text_add(r->out, ", max %s\n", max);
    }
    scratch_release(&s->memory, before);
}

/* Only of files of before: their recorder left calls of STINT_SAMPLE out. */
static void put_partial(const struct report *r) {
    u128 calls = 0, untimed = 0;
    for (uint32_t i = 0; i < r->snapshot->node_count; ++i) {
        const struct snapshot_node *n = &r->snapshot->nodes[i];
        if (n->extra->untimed) {
            calls += snapshot_calls(n);
            untimed += n->extra->untimed;
        }
    }
    if (untimed) {
        text_add(
            r->out,
            "sampled: %s of %s calls were not timed; >= is the time of the others, ~ also "
            "has calls inside that were not timed; percentiles, min, max and traces are of the "
            "timed calls\n",
            number_whole(untimed).text, number_whole(calls).text);
    }
}

void report_not_corrected(const struct report *r, const char *indent) {
    if (!r->options->corrected || r->snapshot->corrected) {
        return;
    }
    const char *why = "what a call cost in this run is not known";
    if (!report_can_correct(r->options->view)) {
        why = "only the views table and tree can be";
    }
    text_add(r->out, "%snot corrected: %s\n", indent, why);
}

static void put_corrected(const struct report *r) {
    const struct snapshot *s = r->snapshot;
    char sum[TEXT_NUMBER], most[TEXT_NUMBER];
    u128 ticks = 0;
    report_not_corrected(r, "");
    if (!s->corrected) {
        return;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        ticks += s->costs[i].own;
    }
    text_time(sum, snapshot_sum_ns(s, ticks), CONFIG_UNIT_AUTO);
    text_time(most, snapshot_sum_ns(s, s->cost_most), CONFIG_UNIT_AUTO);
    text_add(r->out, "corrected: ~ is without stint's own cost, at least %s of all self times",
             sum);
    if (r->cost->cold && strcmp(sum, most) != 0) {
        text_add(r->out, ", maybe up to %s", most);
    }
    text_add(r->out, "; percentiles, min, max and other times are as measured\n");
}

/* Memory that was allocated and no scope was open. */
static void put_memory_outside(const struct report *r) {
    struct measure_sums sum;
    char bytes[TEXT_NUMBER], live[TEXT_NUMBER];
    snapshot_outside(r->snapshot, &sum);
    u128 calls = sum.measure[MEASURE_MALLOCS];
    if (!calls) {
        return;
    }
    text_bytes(bytes, sum.measure[MEASURE_MALLOC_BYTES]);
    text_bytes(live, snapshot_memory_live(sum.measure));
    text_add(r->out, "outside scopes: %s malloc%s, %s, of which %s live\n",
             number_whole(calls).text, text_plural(calls), bytes, live);
}

static void put_rules(const struct report *r) {
    int recursion = 0;
    for (uint32_t i = 0; i < r->snapshot->node_count; ++i) {
        recursion |= snapshot_recursive(&r->snapshot->nodes[i]) != 0;
    }
    if (recursion) {
        text_add(r->out, "recursion: every call is counted, time is taken at the outermost call\n");
    }
    put_partial(r);
    put_corrected(r);
    if (r->snapshot->since) {
        text_add(r->out, "since the last reset: min and max are a histogram's bounds unless set in "
                         "this interval; losses are since the start\n");
    }
}

static void put_usage(const struct report *r) {
    const struct machine_usage *u = r->about->usage;
    if (u) {
        text_add(r->out, "peak RSS %s MiB, page faults %llu minor, %llu major\n",
                 number_fixed((double)u->peak_rss / 1048576, 1).text,
                 (unsigned long long)u->minor_faults, (unsigned long long)u->major_faults);
    }
}

int report_footer(const struct report *r) {
    text_put(r->out, "\n", 1);
    put_calls(r);
    report_losses(r, "lost: ");
    footer_put_steps(r);
    report_gpu(r);
    put_open(r);
    put_memory_outside(r);
    put_rules(r);
    put_usage(r);
    return 0;
}
