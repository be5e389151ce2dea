/* SPDX-License-Identifier: Apache-2.0 */
#include "top_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/name.h"
#include "base/number.h"
#include "read/columns.h"
#include "run_view.h"

#define NAME_LEAST 16
#define NAME_MOST 60
#define NUMBERS 64 /* columns of the numbers of a row */

/* A name may hold a NUL. 0, or -1 without memory. */
static int put_name(struct top_row *out, const struct snapshot *s, const struct stint_row *r) {
    const char *set = r->set ? s->sets[r->set] : "";
    size_t set_length = strlen(set);
    char *name = malloc(r->name_length + 2 + set_length + 1);
    if (!name) {
        return -1;
    }
    memcpy(name, r->name, r->name_length);
    out->length = r->name_length;
    if (r->set) {
        memcpy(name + out->length, " @", 2);
        memcpy(name + out->length + 2, set, set_length);
        out->length += 2 + set_length;
    }
    name[out->length] = '\0';
    out->name = name;
    return 0;
}

static int name_order(const struct top_row *a, const struct top_row *b) {
    return name_compare(a->name, a->length, b->name, b->length);
}

static int by_name(const void *left, const void *right) {
    return name_order(left, right);
}

static void free_rows(struct top_row *row, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        free(row[i].name);
    }
    free(row);
}

static uint64_t since(uint64_t now, uint64_t then) {
    return now > then ? now - then : 0;
}

/* Both by name. Open scopes count as far as they have come, or a long one would be nothing for an
 * hour and then all. */
static void subtract(struct top_row *now, uint32_t count, const struct top_table *then) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < count; ++i) {
        static const struct top_row nothing;
        const struct top_row *was = &nothing;
        while (k < then->count && name_order(&then->row[k], &now[i]) < 0) {
            ++k;
        }
        if (k < then->count && !name_order(&then->row[k], &now[i])) {
            was = &then->row[k++];
        }
        now[i].more_calls = since(now[i].calls, was->calls);
        now[i].more_ns = since(now[i].total_ns + now[i].open_ns, was->total_ns + was->open_ns);
        now[i].more_self_ns =
            since(now[i].self_ns + now[i].open_self_ns, was->self_ns + was->open_self_ns);
    }
}

static int copy_rows(struct top_row *out, struct snapshot *s, const struct rows *rows) {
    for (uint32_t i = 0; i < rows->count; ++i) {
        const struct stint_row *r = &rows->row[i];
        out[i] = (struct top_row){.calls = r->calls,
                                  .total_ns = r->total_ns,
                                  .self_ns = r->self_ns,
                                  .open_ns = r->open_all_ns,
                                  .open_self_ns = r->open_self_ns};
        if (put_name(&out[i], s, r)) {
            free_rows(out, i);
            return -1;
        }
    }
    return 0;
}

static void describe(struct top_table *t, const struct run *r) {
    char wall[TEXT_NUMBER], state[128];
    struct text name;
    const struct snapshot *s = &r->snapshot;
    text_time(wall, s->wall_ns, CONFIG_UNIT_AUTO);
    run_view_state(state, sizeof state, r);
    state[strcspn(state, ":")] = '\0';
    text_start(&name);
    text_name(&name, *r->program ? r->program : "?", strlen(*r->program ? r->program : "?"), 40);
    snprintf(t->head, sizeof t->head, "stint top: %.*s, %s, %s wall", (int)name.length,
             name.data ? name.data : "", state, wall);
    text_free(&name);
    t->lost = 0;
    t->open = 0;
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        t->lost += s->lost[i];
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        t->open += s->threads[i].open_count;
    }
}

int top_table_look(struct top_table *t, struct run *r) {
    struct rows rows;
    if (rows_flat(&rows, &r->snapshot, 0)) {
        return -1;
    }
    struct top_row *now = calloc((size_t)rows.count + 1, sizeof *now);
    if (!now || copy_rows(now, &r->snapshot, &rows)) {
        return -1;
    }
    qsort(now, rows.count, sizeof *now, by_name);
    subtract(now, rows.count, t);
    free_rows(t->row, t->count);
    t->row = now;
    t->count = rows.count;
    t->more_wall_ns = since(r->snapshot.wall_ns, t->wall_ns);
    t->wall_ns = r->snapshot.wall_ns;
    describe(t, r);
    return 0;
}

void top_table_free(struct top_table *t) {
    free_rows(t->row, t->count);
    memset(t, 0, sizeof *t);
}

/* ---- Printing. */

static int by_more(const void *left, const void *right) {
    const struct top_row *a = *(const struct top_row *const *)left;
    const struct top_row *b = *(const struct top_row *const *)right;
    if (a->more_ns != b->more_ns) {
        return a->more_ns > b->more_ns ? -1 : 1;
    }
    if (a->more_calls != b->more_calls) {
        return a->more_calls > b->more_calls ? -1 : 1;
    }
    return name_order(a, b);
}

/* Right-aligned in `width`, two spaces before it. */
static void put(struct text *t, const char *number, size_t width) {
    text_spaces(t, 2 + (strlen(number) < width ? width - strlen(number) : 0));
    text_add(t, "%s", number);
}

static void put_row(struct text *t, const struct top_row *r, const struct top_table *table,
                    size_t name) {
    char n[TEXT_NUMBER];
    double seconds = (double)table->more_wall_ns / 1e9;
    size_t used = text_name(t, r->name, r->length, name);
    text_spaces(t, used < name ? name - used : 0);
    put(t, number_short(seconds > 0 ? (double)r->more_calls / seconds : 0, 4).text, 10);
    put(t, number_fixed(seconds > 0 ? (double)r->more_ns / 1e7 / seconds : 0, 1).text, 7);
    put(t, number_fixed(seconds > 0 ? (double)r->more_self_ns / 1e7 / seconds : 0, 1).text, 7);
    if (r->more_calls) {
        text_time(n, r->more_ns / r->more_calls, CONFIG_UNIT_AUTO);
    }
    put(t, r->more_calls ? n : "-", 9);
    snprintf(n, sizeof n, "%llu", (unsigned long long)r->calls);
    put(t, n, 10);
    text_time(n, r->total_ns, CONFIG_UNIT_AUTO);
    put(t, n, 9);
    text_put(t, "\n", 1);
}

static void put_head(struct text *t, const struct top_table *table, size_t name, int colour) {
    char more[TEXT_NUMBER];
    text_time(more, table->more_wall_ns, CONFIG_UNIT_AUTO);
    text_add(t, "%s\n%s of it looked at, %u open scope%s, %llu lost\n", table->head, more,
             table->open, table->open == 1 ? "" : "s", (unsigned long long)table->lost);
    text_add(t, "%s%-*s", colour ? "\x1b[1m" : "", (int)name, "name");
    put(t, "calls/s", 10);
    put(t, "% time", 7);
    put(t, "% self", 7);
    put(t, "avg", 9);
    put(t, "calls", 10);
    put(t, "total", 9);
    text_add(t, "%s\n", colour ? "\x1b[0m" : "");
}

int top_table_print(struct text *out, const struct top_table *t,
                    const struct top_table_form *form) {
    const struct top_row **order = malloc(((size_t)t->count + 1) * sizeof *order);
    size_t name = form->width > NUMBERS + NAME_LEAST ? form->width - NUMBERS : NAME_LEAST;
    name = form->width && name < NAME_MOST ? name : NAME_MOST;
    if (!order) {
        return -1;
    }
    for (uint32_t i = 0; i < t->count; ++i) {
        order[i] = &t->row[i];
    }
    qsort(order, t->count, sizeof *order, by_more);
    put_head(out, t, name, form->colour);
    for (uint32_t i = 0; i < t->count && i < form->rows; ++i) {
        put_row(out, order[i], t, name);
    }
    free(order);
    return 0;
}
