/* SPDX-License-Identifier: Apache-2.0 */
#include "follow.h"

#include <string.h>

#include "base/number.h"
#include "model/rows.h"
#include "system/config.h"

#define NAME_COLUMNS 40u

static void put_time(struct text *out, u128 ns, int or_more) {
    char number[TEXT_NUMBER];
    text_time_or_more(out, number, ns, or_more, config.unit);
    size_t columns = text_columns(number);
    text_spaces(out, columns < 9 ? 11 - columns : 2);
    text_add(out, "%s", number);
}

static void put_metric_percentile(struct text *out, const struct metrics *m,
                                  const struct metric_series *h, uint32_t permille) {
    put_time(out, metric_percentile(m, h, permille), metric_is_beyond(h, permille));
}

static const struct metric_series *find_whole(const struct metrics *run,
                                              const struct metric_series *h) {
    for (uint32_t i = 0; i < run->count; ++i) {
        const struct metric_series *of = &run->series[i];
        if (of->label.kind == h->label.kind && !of->hidden &&
            !strcmp(of->label.name, h->label.name) && !strcmp(of->label.set, h->label.set)) {
            return of;
        }
    }
    return h;
}

static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;
static const char *const percentile_keys[PERCENTILE_COUNT] = PERCENTILE_KEYS;

static void put_interval_row(struct text *out, const struct metrics *run,
                             const struct metrics *interval, const struct metric_series *h) {
    const struct metric_series *whole = find_whole(run, h);
    size_t used = text_name(out, h->label.name, strlen(h->label.name), NAME_COLUMNS);
    if (h->label.set_id) {
        text_put(out, " @", 2);
        used += 2 + text_name(out, h->label.set, strlen(h->label.set), NAME_COLUMNS);
    }
    if (used < NAME_COLUMNS) {
        text_spaces(out, NAME_COLUMNS - used);
    }
    text_add(out, "  %10s", number_whole(h->count).text);
    put_time(out, h->sum_ns, 0);
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        put_metric_percentile(out, interval, h, permilles[i]);
    }
    put_metric_percentile(out, run, whole, 500);
    put_metric_percentile(out, run, whole, 990);
    text_put(out, metric_is_gpu(h) ? "  GPU\n" : "\n", metric_is_gpu(h) ? 6 : 1);
}

int interval_report_put(struct text *out, const struct metrics *run,
                        const struct metrics *interval) {
    double seconds = (double)(interval->time_ns - interval->start_ns) * 1e-9;
    double at = (double)(run->time_ns - run->start_ns) * 1e-9;
    text_add(out, "%.100s, pid %u, at %s s: the last %s s\n", run->program, run->pid,
             number_fixed(at, 1).text, number_fixed(seconds, 1).text);
    text_put(out, "name", 4);
    text_spaces(out, NAME_COLUMNS - 4);
    text_add(out, "  %10s  %9s", "calls", "total");
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        text_add(out, "  %9s", percentile_keys[i]);
    }
    text_add(out, "  %9s  %9s\n", "run p50", "run p99");
    for (uint32_t i = 0; i < interval->count; ++i) {
        if (metric_is_histogram(&interval->series[i])) {
            put_interval_row(out, run, interval, &interval->series[i]);
        }
    }
    text_put(out, "\n", 1);
    return out->failed ? -1 : 0;
}
