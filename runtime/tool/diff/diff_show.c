/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a judged diff, as text or as Markdown. All cells are made first (report/report_grid.h), so
 * that the columns are as wide as their widest cell; a column whose cells are all empty is omitted.
 * cmd_diff.c calls it once.
 */
#include "diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "model/snapshot.h"
#include "report/report_grid.h"
#include "system/config.h"

#define NAME_COLUMNS 48u
#define NAME_COLUMNS_MARKDOWN 200u
#define MORE_RUNS 1000u
#define LOAD_APART 1.0         /* processes */
#define ENVIRONMENT_APART 64.0 /* bytes: names of run files differ by some */
#define ERROR_MAX 0.69         /* logarithm; an error by the factor 2 or more is shown as unknown */
#define FACTOR 2.302585        /* logarithm of 10; a larger change is shown as a factor */

enum column { NAME, VERDICT, SIDE_A, SIDE_B, CHANGE, ERROR, OF, CALLS, SELF, NOTE, COLUMNS };

static const char *const titles[] = {"name", "verdict", "A",    "B",    "change", "+/-",
                                     "of",   "calls",   "self", "note", NULL};
#define LEFT_COLUMNS (1u << NAME | 1u << VERDICT | 1u << OF | 1u << NOTE)

static const char *const verdict_words[DIFF_VERDICTS] = {
    [DIFF_SLOWER] = "SLOWER", [DIFF_UNSURE] = "UNSURE", [DIFF_FASTER] = "FASTER",
    [DIFF_APPEARED] = "NEW",  [DIFF_GONE] = "GONE",     [DIFF_SAME] = "SAME",
};

struct show {
    struct diff *d;
    const struct diff_options *o;
    struct text *out;
    struct report_grid grid;
    size_t name_columns; /* a longer name is cut */
    uint32_t rows;
    int markdown;
    const char *paragraph_end; /* of a line of text that is a paragraph in Markdown */
};

static int is_call_time(enum diff_metric m) {
    return m == DIFF_TIME || m == DIFF_TYPICAL || m == DIFF_AVG;
}

const char *diff_verdict_word(enum diff_metric metric, enum diff_verdict v) {
    if (diff_metric_counts(metric) && v == DIFF_SLOWER) {
        return "MORE";
    }
    if (diff_is_bytes(metric) && diff_number(metric)->of_call && v == DIFF_FASTER) {
        return "LESS";
    }
    if (diff_metric_counts(metric) && v == DIFF_FASTER) {
        return "FEWER";
    }
    return verdict_words[v];
}

/* ---- Numbers. */

/* "12.3 %" */
static void format_percent(char out[TEXT_NUMBER], double percent) {
    int decimals = fabs(percent) < 999.5;
    snprintf(out, TEXT_NUMBER, "%.24s %%", number_fixed(percent, decimals).text);
}

/* "x 24634" */
static void format_factor(char out[TEXT_NUMBER], const char *before, double factor) {
    struct number n = factor < 1e9 ? number_fixed(factor, factor < 100) : number_short(factor, 4);
    snprintf(out, TEXT_NUMBER, "%s%.24s", before, n.text);
}

/* "+12.3 %", or a factor that is easier to read: a change that is given as a logarithm. */
static void format_change(char out[TEXT_NUMBER], double log) {
    double percent = 100 * expm1(log);
    if (log >= FACTOR) {
        format_factor(out, "x ", exp(log));
    } else if (log <= -2 * FACTOR && isfinite(log)) {
        format_factor(out, "x 1/", exp(-log));
    } else {
        const char *sign = percent > 0 ? "+" : "";
        snprintf(out, TEXT_NUMBER, "%s%.24s %%", sign, number_fixed(percent, 1).text);
    }
}

static void format_bytes(char out[TEXT_NUMBER], double n) {
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    unsigned u = 0;
    for (; n >= 999.5 && u + 1 < sizeof units / sizeof *units; ++u) {
        n /= 1000;
    }
    struct number shown = u ? number_short(n, 3) : number_fixed(n, 0);
    snprintf(out, TEXT_NUMBER, "%.24s %s", shown.text, units[u]);
}

static void format_metric(const struct show *s, char out[TEXT_NUMBER], double v) {
    if (diff_is_bytes(s->o->metric)) {
        format_bytes(out, v);
    } else if (diff_metric_counts(s->o->metric)) {
        snprintf(out, TEXT_NUMBER, "%s", number_fixed(v, 0).text);
    } else {
        text_time(out, snapshot_whole(v + 0.5), CONFIG_UNIT_AUTO);
    }
}

/* The change, or from 0 what is there now. */
static void format_difference(const struct show *s, char out[TEXT_NUMBER + 1],
                              const struct diff_change *c) {
    if (c->side[0] <= 0 && c->side[1] > 0) {
        out[0] = '+';
        format_metric(s, out + 1, c->side[1]);
    } else {
        format_change(out, diff_change_log(c));
    }
}

/* In what the change is shown: percent of A, a factor, or what is measured if A is 0. */
static void format_error(const struct show *s, char out[TEXT_NUMBER], const struct diff_change *c) {
    double most = c->linear ? double_max(c->side[0], c->side[1]) : ERROR_MAX;
    if (c->error < 0 || c->error > most) {
        snprintf(out, TEXT_NUMBER, "?");
    } else if (c->side[0] <= 0) {
        format_metric(s, out, c->error);
    } else if (diff_change_log(c) >= FACTOR) {
        format_factor(out, "", diff_error_percent(c) / 100);
    } else {
        format_percent(out, diff_error_percent(c));
    }
}

/* ---- Cells, row by row in the order of the columns. */

/* Puts a backslash before the characters from `from` on that Markdown interprets. */
static void escape_markdown(struct text *t, size_t from) {
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

static void cell_name(struct show *s, const struct diff_row *r) {
    struct text *t = &s->grid.text;
    size_t most = s->name_columns, from = t->length;
    size_t width = text_name(t, r->item->name, r->item->length, most);
    if (*r->item->set) {
        text_put(t, " @", 2);
        width += 2 + text_name(t, r->item->set, strlen(r->item->set), most);
    }
    if (s->markdown) {
        escape_markdown(t, from);
    }
    if (r->gpu) {
        text_put(t, " (GPU)", 6);
        width += 6;
    }
    grid_end_cell(&s->grid, from, width);
}

static void cell_change(struct show *s, const struct diff_row *r) {
    const struct diff_change *c = &r->change;
    char text[TEXT_NUMBER + 1];
    for (int side = 0; side < 2; ++side) {
        format_metric(s, text, c->side[side]);
        grid_add(&s->grid, "%s", diff_side_is_known(r, side) ? text : "-");
    }
    if (!c->known) {
        grid_dashes(&s->grid, 2);
        return;
    }
    format_difference(s, text, c);
    grid_add(&s->grid, "%s", text);
    if (diff_metric_counts(s->o->metric)) {
        grid_add(&s->grid, "%s", "");
        return;
    }
    format_error(s, text, c);
    grid_add(&s->grid, "%s", text);
}

static void cell_calls(struct show *s, const struct diff_row *r) {
    char text[TEXT_NUMBER + 1];
    struct number a = number_fixed(floor(r->calls[0] + 0.5), 0);
    struct number b = number_fixed(floor(r->calls[1] + 0.5), 0);
    if (strcmp(a.text, b.text)) {
        grid_add(&s->grid, "%s -> %s", a.text, b.text);
    } else {
        grid_add(&s->grid, "%s", a.text);
    }
    if (is_call_time(s->o->metric) && r->self.known) {
        format_difference(s, text, &r->self);
        grid_add(&s->grid, "%s", text);
    } else {
        grid_add(&s->grid, "%s", "");
    }
}

/* The cell of the note, which begins at `from`, for one more. */
static struct text *note_more(struct show *s, size_t from) {
    if (s->grid.text.length > from) {
        text_put(&s->grid.text, ", ", 2);
    }
    return &s->grid.text;
}

/* "about 7 more pairs for 2.0 %": what decides a row that is UNSURE. */
static void note_runs(struct show *s, size_t from, const struct diff_row *r) {
    char wanted[TEXT_NUMBER];
    const struct diff_change *c = &r->change;
    uint32_t runs = (uint32_t)u64_min(c->values[0], c->values[1]);
    if (r->verdict != DIFF_UNSURE || s->o->paired || runs < DIFF_ENOUGH || c->error < 0 ||
        !c->known || r->lost) {
        return;
    }
    double least = c->linear ? s->o->threshold * c->side[0] : log1p(s->o->threshold);
    double more = diff_more_runs(fabs(c->size), c->error, runs, least);
    format_percent(wanted, 100 * s->o->threshold);
    text_add(note_more(s, from), "%s %u more pair%s for %s",
             more > MORE_RUNS ? "more than" : "about", (unsigned)double_min(more, MORE_RUNS),
             text_plural((uint64_t)more), wanted);
}

static void cell_note(struct show *s, const struct diff_row *r) {
    char a[TEXT_NUMBER], b[TEXT_NUMBER];
    size_t from = s->grid.text.length;
    const double *bytes = r->number[DIFF_BYTES - DIFF_FIRST_NUMBER];
    format_bytes(a, bytes[0]);
    format_bytes(b, bytes[1]);
    if (strcmp(a, b) && !r->gpu && s->o->metric != DIFF_BYTES) {
        text_add(note_more(s, from), "bytes %s -> %s", a, b);
    }
    if (r->lost) {
        text_add(note_more(s, from), "scopes were lost");
    }
    if (fabs(r->change.machine) > 0) {
        format_change(a, r->change.machine);
        text_add(note_more(s, from), "%s by the machine", a);
    }
    if (r->item->partial && !r->change.known) {
        text_add(note_more(s, from), "calls were not timed");
    }
    for (int side = 0; side < 2; ++side) {
        if (r->seen[side] && r->seen[side] < s->d->runs[side]) {
            text_add(note_more(s, from), "in %u of %u runs of %c", r->seen[side], s->d->runs[side],
                     "AB"[side]);
        }
    }
    note_runs(s, from, r);
    grid_end_cell(&s->grid, from, s->grid.text.length - from);
}

static void cells_fill(struct show *s) {
    struct report_grid *g = &s->grid;
    for (uint32_t i = 0; i < s->rows; ++i) {
        const struct diff_row *r = &s->d->row[i];
        cell_name(s, r);
        grid_add(g, "%s", diff_verdict_word(s->o->metric, r->verdict));
        cell_change(s, r);
        grid_add(g, "%s", r->change.known ? r->change.of : "");
        cell_calls(s, r);
        cell_note(s, r);
    }
    for (enum column c = OF; c < COLUMNS; ++c) {
        size_t length = 0;
        for (uint32_t i = g->columns + c; i < g->count; i += g->columns) {
            length += g->cells[i].length;
        }
        if (!length) {
            g->hidden |= 1u << c;
        }
    }
}

/* ---- Lines. */

static void put_markdown_row(struct show *s, uint32_t row) {
    for (enum column c = 0; c < COLUMNS; ++c) {
        const struct grid_cell *cell = &s->grid.cells[row * COLUMNS + c];
        if (!(s->grid.hidden >> c & 1)) {
            text_put(s->out, "| ", 2);
            text_put(s->out, s->grid.text.data + cell->at, cell->length);
            text_put(s->out, " ", cell->length != 0);
        }
    }
    text_put(s->out, "|\n", 2);
}

/* The line below the titles. */
static void put_markdown_rule(struct show *s) {
    for (enum column c = 0; c < COLUMNS; ++c) {
        if (!(s->grid.hidden >> c & 1)) {
            text_add(s->out, "%s", LEFT_COLUMNS >> c & 1 ? "|---" : "|---:");
        }
    }
    text_put(s->out, "|\n", 2);
}

static void put_table(struct show *s) {
    if (!s->d->rows) {
        if (s->o->filtered) {
            text_add(s->out, "%s\n", REPORT_NO_MATCH);
        }
        return;
    }
    if (!s->markdown) {
        grid_print(&s->grid, s->out, 0);
        return;
    }
    for (uint32_t i = 0; i <= s->rows; ++i) {
        put_markdown_row(s, i);
        if (i == 0) {
            put_markdown_rule(s);
        }
    }
}

static void put_program(struct show *s, int side) {
    const struct diff *d = s->d;
    const char *name = text_or_unknown(d->run[side][0].program);
    for (uint32_t i = 1; i < d->runs[side]; ++i) {
        if (strcmp(name, text_or_unknown(d->run[side][i].program))) {
            name = "several programs";
        }
    }
    size_t from = s->out->length;
    text_name(s->out, name, strlen(name), NAME_COLUMNS);
    if (s->markdown) {
        escape_markdown(s->out, from);
    }
    text_add(s->out, ", %u run%s", d->runs[side], text_plural(d->runs[side]));
}

static void put_machines(struct show *s) {
    const struct diff *d = s->d;
    char change[TEXT_NUMBER];
    format_change(change, log(d->reference[1] / d->reference[0]));
    text_add(s->out, "machine: an iteration of the reference loop takes %s ns, then %s ns (%s)",
             number_fixed(d->reference[0] / 1e3, 3).text,
             number_fixed(d->reference[1] / 1e3, 3).text, change);
    if (!s->o->raw && fabs(d->machine) > 0) {
        text_add(s->out, ": changes that this explains do not count");
    } else if (!s->o->raw) {
        text_add(s->out, ": the same speed");
    }
    text_add(s->out, "%s", s->paragraph_end);
}

/* ---- What the runs' speed depends on besides the program. */

/* The word of a key; NULL if it is not known. */
static const char *find_condition(const char *conditions, const char *key, size_t *length) {
    size_t width = strlen(key);
    for (const char *at = conditions; *at && strncmp(at, "label=", 6); at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word > width && !strncmp(at, key, width) && at[width] == '=' && at[width + 1] != '?') {
            *length = word - width - 1;
            return at + width + 1;
        }
        at += word;
    }
    return NULL;
}

/* The smallest and the largest number of a side. Whether all runs have one. */
static int find_condition_range(const struct diff *d, int side, const char *key, double range[2]) {
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (uint32_t i = 0; i < d->runs[side]; ++i) {
        size_t length;
        double value = 0;
        const char *word = find_condition(d->run[side][i].conditions, key, &length);
        if (!word || !number_parse(word, &value)) {
            return 0;
        }
        range[0] = double_min(range[0], value);
        range[1] = double_max(range[1], value);
    }
    return d->runs[side] > 0;
}

/* A line if the ranges of the two sides are that far apart. */
static void put_number_condition(struct show *s, const char *key, const char *what, double apart,
                                 int decimals) {
    double range[2][2];
    for (int side = 0; side < 2; ++side) {
        if (!find_condition_range(s->d, side, key, range[side])) {
            return;
        }
    }
    if (range[1][0] - range[0][1] < apart && range[0][0] - range[1][1] < apart) {
        return;
    }
    text_add(s->out, "the sides differ: %s %s to %s", what,
             number_fixed(range[0][0], decimals).text, number_fixed(range[0][1], decimals).text);
    text_add(s->out, ", then %s to %s%s", number_fixed(range[1][0], decimals).text,
             number_fixed(range[1][1], decimals).text, s->paragraph_end);
}

/* The word that all runs of a side have, or else NULL. */
static const char *find_common_word(const struct diff *d, int side, const char *key,
                                    size_t *length) {
    const char *first = NULL;
    for (uint32_t i = 0; i < d->runs[side]; ++i) {
        size_t n;
        const char *word = find_condition(d->run[side][i].conditions, key, &n);
        if (!word || (first && (n != *length || memcmp(word, first, n)))) {
            return NULL;
        }
        first = word;
        *length = n;
    }
    return first;
}

/* A line if each side has one word, and they are different. */
static void put_word_condition(struct show *s, const char *key, const char *what) {
    size_t length[2];
    const char *word[2];
    for (int side = 0; side < 2; ++side) {
        word[side] = find_common_word(s->d, side, key, &length[side]);
        if (!word[side]) {
            return;
        }
    }
    if (length[0] == length[1] && !memcmp(word[0], word[1], length[0])) {
        return;
    }
    text_add(s->out, "the sides differ: %s ", what);
    text_name(s->out, word[0], length[0], NAME_COLUMNS);
    text_add(s->out, ", then ");
    text_name(s->out, word[1], length[1], NAME_COLUMNS);
    text_add(s->out, "%s", s->paragraph_end);
}

static void put_conditions(struct show *s) {
    put_word_condition(s, "aslr", "ASLR");
    put_word_condition(s, "governor", "frequency governor");
    put_number_condition(s, "load", "load", LOAD_APART, 2);
    put_number_condition(s, "env", "bytes of the environment", ENVIRONMENT_APART, 0);
}

/* Drift counts as a change if one side ran after the other. */
static void put_order(struct show *s) {
    const struct diff *d = s->d;
    if (s->o->paired || d->alternated || d->runs[0] < DIFF_ENOUGH || d->runs[1] < DIFF_ENOUGH) {
        return;
    }
    const char *what = "A and B did not alternate";
    if (!d->order_is_known) {
        what = "whether A and B alternated is not known";
    }
    text_add(s->out,
             "%s, and the machine may have drifted: intervals are wider; `stint ab` alternates%s",
             what, s->paragraph_end);
}

/* The change that most rows could show; the rows' shares are in JSON. */
static void put_shown(struct show *s) {
    struct diff *d = s->d;
    double *shows = scratch_array(&d->memory, d->rows + 1, sizeof *shows);
    char size[TEXT_NUMBER];
    uint32_t n = 0;
    for (uint32_t i = 0; shows && i < d->rows; ++i) {
        if (d->row[i].shows > 0 && isfinite(d->row[i].shows)) {
            shows[n++] = d->row[i].shows;
        }
    }
    if (!n) {
        return;
    }
    format_change(size, log1p(diff_median(shows, n) / 100));
    text_add(s->out, "these runs can show a change of %s or more%s%s", size + (*size == '+'),
             n > 1 ? " in half of the rows" : "", s->paragraph_end);
}

/* How the pairs were run. */
static void put_pairing(struct show *s) {
    static const char *const aslr[] = {"not known", "off", "on"};
    const struct diff_pairing *p = s->o->paired;
    char least[TEXT_NUMBER], alpha[TEXT_NUMBER];
    format_percent(least, 100 * p->least);
    format_percent(alpha, 100 * p->alpha);
    text_add(s->out, "%u pair%s in random order, seed %llu", s->d->runs[0],
             text_plural(s->d->runs[0]), (unsigned long long)p->seed);
    if (p->warmups) {
        text_add(s->out, "; %u warm-up pair%s left out", p->warmups, text_plural(p->warmups));
    }
    text_add(s->out, "; ASLR: %s%s", aslr[p->aslr + 1], s->paragraph_end);
    text_add(s->out,
             "smallest difference of interest %s; a false verdict in at most %s of such "
             "comparisons%s",
             least, alpha, s->paragraph_end);
}

/* Prints the questions that the pairs left open. */
static void put_pairs_end(struct show *s) {
    const struct diff_pairing *p = s->o->paired;
    if (p->left) {
        text_add(s->out, "%u row%s below 1 %% of the time %s not judged%s", p->left,
                 text_plural(p->left), p->left == 1 ? "is" : "are", s->paragraph_end);
    }
    uint32_t open = s->d->verdicts[DIFF_UNSURE] - s->d->lost;
    if (open) {
        text_add(s->out, "undecided: %u row%s, because %s%s", open, text_plural(open), p->end,
                 s->paragraph_end);
    }
}

static void put_diff_head(struct show *s) {
    const struct diff *d = s->d;
    char least[TEXT_NUMBER];
    const char *bold = s->markdown ? "**" : "";
    text_add(s->out, "%sstint %s%s: A is ", bold, s->o->paired ? "ab" : "diff", bold);
    put_program(s, 0);
    text_add(s->out, "; B is ");
    put_program(s, 1);
    text_add(s->out, "%s", s->paragraph_end);
    if (d->same) {
        text_add(s->out, "the same file is on both sides: %u of %u run%s of A%s", d->same,
                 d->runs[0], text_plural(d->runs[0]), s->paragraph_end);
    }
    if (d->side_lost[0] || d->side_lost[1]) {
        text_add(s->out,
                 "scopes were lost, %llu in A and %llu in B (`stint info`): what that may explain "
                 "is UNSURE, not NEW, GONE, MORE or FEWER%s",
                 (unsigned long long)d->side_lost[0], (unsigned long long)d->side_lost[1],
                 s->paragraph_end);
    }
    put_conditions(s);
    if (d->reference[0] > 0 && d->reference[1] > 0 && !s->o->paired) {
        put_machines(s);
    }
    put_order(s);
    if (s->o->paired) {
        put_pairing(s);
    } else if (d->few && !diff_metric_counts(s->o->metric)) {
        format_percent(least, 100 * expm1(d->floor));
        text_add(s->out,
                 "fewer than %u runs per side do not show how far runs differ (%u row%s): changes "
                 "under %s are UNSURE%s",
                 DIFF_ENOUGH, d->few, text_plural(d->few), least, s->paragraph_end);
    }
    if (!s->markdown) {
        text_add(s->out, "\n");
    }
}

/* "at least " if the end of a run of that side is not known. */
static const char *wall_bound(const struct diff *d, int side) {
    for (uint32_t i = 0; i < d->runs[side]; ++i) {
        if (d->run[side][i].at_least) {
            return "at least ";
        }
    }
    return "";
}

static void put_diff_tail(struct show *s) {
    const struct diff *d = s->d;
    char a[TEXT_NUMBER], b[TEXT_NUMBER], change[TEXT_NUMBER], error[TEXT_NUMBER];
    const char *more = "slower", *less = "faster";
    if (diff_metric_counts(s->o->metric)) {
        more = "more";
        less = "fewer";
    }
    text_time(a, snapshot_whole(d->wall.change.side[0] + 0.5), CONFIG_UNIT_AUTO);
    text_time(b, snapshot_whole(d->wall.change.side[1] + 0.5), CONFIG_UNIT_AUTO);
    format_change(change, diff_change_log(&d->wall.change));
    format_error(s, error, &d->wall.change);
    text_add(s->out, "\n");
    if (s->rows < d->rows) {
        text_add(s->out, "%u more row%s, not shown%s", d->rows - s->rows,
                 text_plural(d->rows - s->rows), s->paragraph_end);
    }
    if (s->o->paired) {
        put_pairs_end(s);
    }
    put_shown(s);
    text_add(s->out,
             "total: %u %s, %u %s, %u same, %u unsure, %u new, %u gone; wall %s: %s%s -> %s%s (%s "
             "+/- %s)\n",
             d->verdicts[DIFF_SLOWER], more, d->verdicts[DIFF_FASTER], less, d->verdicts[DIFF_SAME],
             d->verdicts[DIFF_UNSURE], d->verdicts[DIFF_APPEARED], d->verdicts[DIFF_GONE],
             verdict_words[d->wall.verdict], wall_bound(d, 0), a, wall_bound(d, 1), b, change,
             error);
}

void diff_show(struct diff *d, const struct diff_options *o, uint32_t top, int markdown,
               struct text *out) {
    struct show s = {.d = d, .o = o, .out = out, .rows = d->rows, .markdown = markdown};
    s.name_columns = markdown ? NAME_COLUMNS_MARKDOWN : NAME_COLUMNS;
    s.paragraph_end = markdown ? "\n\n" : "\n";
    if (top && top < s.rows) {
        s.rows = top;
    }
    grid_start(&s.grid, titles, LEFT_COLUMNS);
    cells_fill(&s);
    out->failed |= s.grid.failed || s.grid.text.failed;
    if (!out->failed) {
        put_diff_head(&s);
        put_table(&s);
        put_diff_tail(&s);
    }
    grid_free(&s.grid);
}
