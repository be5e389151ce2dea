/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/number.h"
#include "read/snapshot.h"

#define NAME_COLUMNS 48u
#define NAME_COLUMNS_MARKDOWN 200u

enum column { NAME, VERDICT, SIDE_A, SIDE_B, CHANGE, ERROR, OF, CALLS, SELF, NOTE, COLUMNS };

static const struct {
    const char *title;
    int left;
} columns[COLUMNS] = {
    [NAME] = {"name", 1}, [VERDICT] = {"verdict", 1}, [SIDE_A] = {"A", 0},
    [SIDE_B] = {"B", 0},  [CHANGE] = {"change", 0},   [ERROR] = {"+/-", 0},
    [OF] = {"of", 1},     [CALLS] = {"calls", 0},     [SELF] = {"self", 0},
    [NOTE] = {"note", 1},
};

static const char *const words[DIFF_VERDICTS] = {
    [DIFF_SLOWER] = "SLOWER", [DIFF_UNSURE] = "UNSURE", [DIFF_FASTER] = "FASTER",
    [DIFF_APPEARED] = "NEW",  [DIFF_GONE] = "GONE",     [DIFF_SAME] = "SAME",
};

/* A cell of the table, in `cells`. */
struct cell {
    size_t from, length, width;
};

struct show {
    struct diff *d;
    const struct diff_options *o;
    struct text *out;
    struct text cells;
    struct cell *cell;
    size_t width[COLUMNS];
    uint32_t rows;
    int markdown;
};

static int counts(const struct show *s) {
    return s->o->metric == DIFF_CALLS || s->o->metric == DIFF_BYTES;
}

static int is_call_time(enum diff_metric m) {
    return m == DIFF_TIME || m == DIFF_TYPICAL || m == DIFF_AVG;
}

static const char *word_of(const struct show *s, enum diff_verdict v) {
    return !counts(s) || (v != DIFF_SLOWER && v != DIFF_FASTER) ? words[v]
           : v == DIFF_SLOWER                                   ? "MORE"
                                                                : "FEWER";
}

/* ---- Numbers. */

static void put_percent(char out[TEXT_NUMBER], double log, const char *sign) {
    double v = 100 * expm1(log);
    int decimals = fabs(v) < 999.5;
    snprintf(out, TEXT_NUMBER, "%s%.24s %%", v > 0 ? sign : "", number_fixed(v, decimals).text);
}

static void put_bytes(char out[TEXT_NUMBER], double n) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    unsigned u = 0;
    for (; n >= 999.5 && u + 1 < sizeof units / sizeof *units; ++u) {
        n /= 1000;
    }
    struct number shown = u ? number_short(n, 3) : number_fixed(n, 0);
    snprintf(out, TEXT_NUMBER, "%.24s %s", shown.text, units[u]);
}

static void put_value(const struct show *s, char out[TEXT_NUMBER], double v) {
    if (s->o->metric == DIFF_BYTES) {
        put_bytes(out, v);
    } else if (s->o->metric == DIFF_CALLS) {
        snprintf(out, TEXT_NUMBER, "%s", number_fixed(v, 0).text);
    } else {
        text_time(out, v < 1e19 ? (uint64_t)(v + 0.5) : UINT64_MAX, CONFIG_UNIT_AUTO);
    }
}

/* ---- Cells. */

static struct cell *cell_at(const struct show *s, uint32_t row, enum column c) {
    return &s->cell[(size_t)row * COLUMNS + c];
}

static void cell_put(struct show *s, uint32_t row, enum column c, const char *text) {
    struct cell *to = cell_at(s, row, c);
    to->from = s->cells.length;
    to->length = to->width = strlen(text);
    text_put(&s->cells, text, to->length);
}

/* What Markdown would take for its own. */
static void escape(struct text *t, size_t from) {
    char name[2048];
    size_t length = t->length - from;
    if (t->failed || length > sizeof name) {
        return;
    }
    memcpy(name, t->data + from, length);
    t->length = from;
    for (size_t i = 0; i < length; ++i) {
        if (strchr("\\|`*_<>[]#~&", name[i]) && name[i]) {
            text_put(t, "\\", 1);
        }
        text_put(t, &name[i], 1);
    }
}

static void cell_name(struct show *s, uint32_t row, const struct diff_row *r) {
    struct cell *to = cell_at(s, row, NAME);
    struct text *t = &s->cells;
    size_t most = s->markdown ? NAME_COLUMNS_MARKDOWN : NAME_COLUMNS;
    to->from = t->length;
    to->width = text_name(t, r->item->name, r->item->length, most);
    if (*r->item->set) {
        text_put(t, " @", 2);
        to->width += 2 + text_name(t, r->item->set, strlen(r->item->set), most);
    }
    if (s->markdown) {
        escape(t, to->from);
    }
    if (r->gpu) {
        text_put(t, " (GPU)", 6);
        to->width += 6;
    }
    to->length = t->length - to->from;
}

static void cell_change(struct show *s, uint32_t row, const struct diff_row *r) {
    const struct diff_change *c = &r->change;
    char text[TEXT_NUMBER];
    for (int side = 0; side < 2; ++side) {
        put_value(s, text, c->side[side]);
        cell_put(s, row, side ? SIDE_B : SIDE_A, r->seen[side] ? text : "-");
    }
    if (!c->known) {
        cell_put(s, row, CHANGE, "-");
        cell_put(s, row, ERROR, "-");
        return;
    }
    put_percent(text, c->log, "+");
    cell_put(s, row, CHANGE, text);
    put_percent(text, c->error, "");
    int told = c->error >= 0 && c->error < 0.7; /* twice or half: as good as not known */
    cell_put(s, row, ERROR, counts(s) ? "" : told ? text : "?");
}

static void cell_calls(struct show *s, uint32_t row, const struct diff_row *r) {
    char text[3 * TEXT_NUMBER];
    double a = floor(r->calls[0] + 0.5), b = floor(r->calls[1] + 0.5);
    int same = a <= b && a >= b;
    struct number from = number_fixed(a, 0);
    snprintf(text, sizeof text, "%s%s%s", from.text, same ? "" : " -> ",
             same ? "" : number_fixed(b, 0).text);
    cell_put(s, row, CALLS, text);
    int known = is_call_time(s->o->metric) && r->self[0] > 0 && r->self[1] > 0;
    put_percent(text, known ? log(r->self[1] / r->self[0]) : 0, "+");
    cell_put(s, row, SELF, known ? text : is_call_time(s->o->metric) ? "-" : "");
}

static void cell_note(struct show *s, uint32_t row, const struct diff_row *r) {
    char text[8 * TEXT_NUMBER] = "", a[TEXT_NUMBER], b[TEXT_NUMBER];
    size_t n = 0;
    put_bytes(a, r->bytes[0]);
    put_bytes(b, r->bytes[1]);
    if (strcmp(a, b) && !r->gpu && s->o->metric != DIFF_BYTES) {
        n += (size_t)snprintf(text, sizeof text, "bytes %s -> %s", a, b);
    }
    for (int side = 0; side < 2; ++side) {
        if (r->seen[side] && r->seen[side] < s->d->runs[side]) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%sin %u of %u runs of %c",
                                  n ? ", " : "", r->seen[side], s->d->runs[side], "AB"[side]);
        }
    }
    cell_put(s, row, NOTE, text);
}

static void fill(struct show *s) {
    for (enum column c = 0; c < COLUMNS; ++c) {
        cell_put(s, 0, c, columns[c].title);
    }
    for (uint32_t i = 0; i < s->rows; ++i) {
        const struct diff_row *r = &s->d->row[i];
        cell_name(s, i + 1, r);
        cell_put(s, i + 1, VERDICT, word_of(s, r->verdict));
        cell_change(s, i + 1, r);
        cell_put(s, i + 1, OF, r->change.known ? r->change.of : "");
        cell_calls(s, i + 1, r);
        cell_note(s, i + 1, r);
    }
    for (enum column c = 0; c < COLUMNS; ++c) {
        for (uint32_t i = 0; i <= s->rows; ++i) {
            size_t width = cell_at(s, i, c)->width;
            s->width[c] = width > s->width[c] ? width : s->width[c];
        }
    }
}

/* ---- Lines. */

/* A column whose cells are all empty below its title says nothing. */
static int is_shown(const struct show *s, enum column c) {
    for (uint32_t i = 1; i <= s->rows; ++i) {
        if (cell_at(s, i, c)->length) {
            return 1;
        }
    }
    return c < OF;
}

static void put_line(struct show *s, uint32_t row) {
    size_t owed = 0;
    for (enum column c = 0; c < COLUMNS; ++c) {
        const struct cell *cell = cell_at(s, row, c);
        if (!is_shown(s, c)) {
            continue;
        }
        size_t pad = s->width[c] - cell->width;
        if (!cell->length) {
            owed += s->width[c] + 2; /* no line ends in spaces */
            continue;
        }
        text_spaces(s->out, owed + (columns[c].left ? 0 : pad));
        text_put(s->out, s->cells.data + cell->from, cell->length);
        owed = 2 + (columns[c].left ? pad : 0);
    }
    text_put(s->out, "\n", 1);
}

static void put_markdown_line(struct show *s, uint32_t row) {
    for (enum column c = 0; c < COLUMNS; ++c) {
        const struct cell *cell = cell_at(s, row, c);
        if (is_shown(s, c)) {
            text_put(s->out, "| ", 2);
            text_put(s->out, s->cells.data + cell->from, cell->length);
            text_put(s->out, " ", cell->length != 0);
        }
    }
    text_put(s->out, "|\n", 2);
    for (enum column c = 0; !row && c < COLUMNS; ++c) {
        if (is_shown(s, c)) {
            text_add(s->out, columns[c].left ? "|---" : "|---:");
        }
    }
    text_put(s->out, "|\n", row ? 0 : 2);
}

static double wall_of(const struct diff *d, int side) {
    double sum = 0;
    for (uint32_t i = 0; i < d->runs[side]; ++i) {
        sum += d->run[side][i].wall;
    }
    return sum / (d->runs[side] ? d->runs[side] : 1);
}

static void put_program(struct show *s, int side) {
    const struct diff *d = s->d;
    const char *name = d->runs[side] ? d->run[side][0].program : "";
    for (uint32_t i = 1; i < d->runs[side]; ++i) {
        if (strcmp(name, d->run[side][i].program)) {
            name = "several programs";
        }
    }
    size_t from = s->out->length;
    text_name(s->out, *name ? name : "?", strlen(*name ? name : "?"), NAME_COLUMNS);
    if (s->markdown) {
        escape(s->out, from);
    }
    text_add(s->out, ", %u %s", d->runs[side], d->runs[side] == 1 ? "run" : "runs");
}

static void put_head(struct show *s) {
    const struct diff *d = s->d;
    const char *end = s->markdown ? "\n\n" : "\n";
    char change[TEXT_NUMBER], least[TEXT_NUMBER];
    text_add(s->out, s->markdown ? "**stint diff**: A is " : "stint diff: A is ");
    put_program(s, 0);
    text_add(s->out, "; B is ");
    put_program(s, 1);
    text_add(s->out, "%s", end);
    if (d->reference[0] > 0 && d->reference[1] > 0) {
        put_percent(change, log(d->reference[1] / d->reference[0]), "+");
        text_add(s->out, "machine: a turn of the reference loop takes %s ns, then %s ns (%s)",
                 number_fixed(d->reference[0] / 1e3, 3).text,
                 number_fixed(d->reference[1] / 1e3, 3).text, change);
        text_add(s->out, "%s%s",
                 s->o->raw              ? ""
                 : fabs(d->machine) > 0 ? ": changes that this explains do not count"
                                        : ": the same speed",
                 end);
    }
    if (d->few && !counts(s)) {
        put_percent(least, d->floor, "");
        text_add(s->out,
                 "fewer than %u runs a side do not show how far runs differ: changes under %s are "
                 "UNSURE%s",
                 DIFF_ENOUGH, least, end);
    }
    text_add(s->out, "%s", s->markdown ? "" : "\n");
}

static void put_tail(struct show *s) {
    const struct diff *d = s->d;
    char a[TEXT_NUMBER], b[TEXT_NUMBER], change[TEXT_NUMBER];
    double from = wall_of(d, 0), to = wall_of(d, 1);
    text_time(a, snapshot_whole(from), CONFIG_UNIT_AUTO);
    text_time(b, snapshot_whole(to), CONFIG_UNIT_AUTO);
    put_percent(change, from > 0 && to > 0 ? log(to / from) : 0, "+");
    text_add(s->out, "\n");
    if (s->rows < d->rows) {
        text_add(s->out, "%u rows more, not shown%s", d->rows - s->rows,
                 s->markdown ? "\n\n" : "\n");
    }
    text_add(s->out,
             "total: %u %s, %u %s, %u same, %u unsure, %u new, %u gone; wall %s -> %s (%s)\n",
             d->verdicts[DIFF_SLOWER], counts(s) ? "more" : "slower", d->verdicts[DIFF_FASTER],
             counts(s) ? "fewer" : "faster", d->verdicts[DIFF_SAME], d->verdicts[DIFF_UNSURE],
             d->verdicts[DIFF_APPEARED], d->verdicts[DIFF_GONE], a, b, change);
}

void diff_show(struct diff *d, const struct diff_options *o, uint32_t top, int markdown,
               struct text *out) {
    struct show s = {.d = d, .o = o, .out = out, .markdown = markdown};
    s.rows = top && top < d->rows ? top : d->rows;
    s.cell = scratch_array(&d->memory, ((size_t)s.rows + 1) * COLUMNS, sizeof *s.cell);
    text_start(&s.cells);
    if (s.cell) {
        fill(&s);
    }
    out->failed |= !s.cell || s.cells.failed;
    if (!out->failed) {
        put_head(&s);
        for (uint32_t i = 0; i <= s.rows && d->rows; ++i) {
            (markdown ? put_markdown_line : put_line)(&s, i);
        }
        put_tail(&s);
    }
    text_free(&s.cells);
}
