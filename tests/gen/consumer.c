/* SPDX-License-Identifier: Apache-2.0 */
/* Includes every generated file as the runtime does, between the least declarations they need, and
 * prints what they hold. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum report_kind { REPORT_TEXT, REPORT_COUNT, REPORT_TIME, REPORT_SHARE };
enum { REPORT_IN_TABLE = 1, REPORT_IN_TREE = 2 };

struct stint_row {
    const char *name, *info;
    uint64_t calls, total_ns, self_ns, share_ppm, avg_ns, min_ns, p50_ns, p90_ns, p99_ns, max_ns;
    uint64_t first_ns, samples, threads;
};

struct report_column {
    const char *key;
    const char *title;
    enum report_kind kind;
    size_t offset;
    int sortable;
    unsigned views;
    const char *doc;
};

enum env_kind {
    ENV_SWITCH,
    ENV_CHOICE,
    ENV_LEVEL,
    ENV_SIZE,
    ENV_TEXT,
    ENV_GLOBS,
    ENV_VIEW,
    ENV_RESERVED
};

struct stint_config {
    int enable, unit, level, percentiles, clock, log_prefix;
    uint64_t memory;
    const char *report, *output, *filter;
};

struct env_entry {
    const char *name;
    enum env_kind kind;
    size_t offset;
    uint64_t min, max;
    const char *values;
    const char *doc;
};

struct status_text {
    const char *key;
    const char *text;
    const char *label;
};

#include "env_table.inc"
#include "report_columns.inc"
#include "status_ids.inc"
#include "status_table.inc"

static const char help[] =
#include "env_help.inc"
    ;

int main(void) {
    _Static_assert(sizeof env_table / sizeof *env_table == STINT_ENV_COUNT, "count and rows");
    for (size_t i = 0; i < STINT_COLUMN_COUNT; ++i) {
        const struct report_column *c = &report_columns[i];
        printf("column %s \"%s\" kind %d at %zu sort %d views %u: %s\n", c->key, c->title,
               (int)c->kind, c->offset, c->sortable, c->views, c->doc);
    }
    for (size_t i = 0; i < STINT_ENV_COUNT; ++i) {
        const struct env_entry *e = &env_table[i];
        printf("env %s=%s kind %d at %zu from %llu to %llu: %s\n", e->name, e->values, (int)e->kind,
               e->offset, (unsigned long long)e->min, (unsigned long long)e->max, e->doc);
    }
    for (size_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        const struct status_text *s = &status_table[i];
        printf("status %s: 1 %s (%s)\n", s->key, s->text, s->label);
    }
    printf("last status %s\n", status_table[STINT_STATUS_CAPTURE_UNBALANCED].key);
    fputs(help, stdout);
    return 0;
}
