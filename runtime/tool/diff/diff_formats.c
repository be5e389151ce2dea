/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a judged diff for other programs: JSON, CSV, JUnit's XML for the test pages of CI servers,
 * and workflow commands of GitHub, which become annotations of a pull request. cmd_diff.c calls
 * diff_write once. Names come from run files, which may contain anything: every format escapes
 * them, so that none can end a string, a tag or a command.
 */
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "diff.h"
#include "export/export_columns.h"
#include "export/export_names.h"

#define CELLS 11u /* columns of numbers */

/* A diff on its way out. */
struct writer {
    const struct diff *d;
    const struct diff_options *o;
    struct sink *out;
    uint32_t rows;
    uint32_t cases; /* rows, and the wall time if it is judged */
    int nothing;    /* a comparison with --fail-on has no row */
};

static const char *unit_of(enum diff_metric metric) {
    if (diff_is_bytes(metric)) {
        return "bytes";
    }
    if (diff_number(metric)) {
        return diff_number(metric)->word;
    }
    return metric == DIFF_CALLS ? "calls" : "ns";
}

static const char *command_of(const struct writer *w) {
    return w->o->paired ? "stint ab" : "stint diff";
}

/* A number of a row, in the order of the columns, if it is known. */
struct cell_number {
    const char *key;
    int known;
    struct number value;
};

static struct cell_number make_cell(const char *key, int known, struct number value) {
    return (struct cell_number){key, known, value};
}

static double change_percent(double log) {
    return 100 * expm1(log);
}

static void fill_cells(const struct diff_row *r, struct cell_number cell[CELLS]) {
    const struct diff_change *c = &r->change;
    double error = diff_error_percent(c);
    int error_known = c->known && c->error >= 0 && isfinite(error);
    cell[0] = make_cell("a", diff_side_is_known(r, 0), number_fixed(c->side[0], 1));
    cell[1] = make_cell("b", diff_side_is_known(r, 1), number_fixed(c->side[1], 1));
    double change = change_percent(diff_change_log(c));
    cell[2] = make_cell("change_percent", c->known && isfinite(change), number_fixed(change, 3));
    cell[3] = make_cell("error_percent", error_known, number_fixed(error, 3));
    cell[4] = make_cell("p", c->known && c->p >= 0 && c->p <= 1, number_short(c->p, 6));
    cell[5] = make_cell("calls_a", r->seen[0] != 0, number_fixed(r->calls[0], 1));
    cell[6] = make_cell("calls_b", r->seen[1] != 0, number_fixed(r->calls[1], 1));
    cell[7] = make_cell("runs_a", 1, number_fixed(r->seen[0], 0));
    cell[8] = make_cell("runs_b", 1, number_fixed(r->seen[1], 0));
    cell[9] = make_cell("machine_percent", c->known && fabs(c->machine) > 0,
                        number_fixed(change_percent(c->machine), 3));
    cell[10] = make_cell("detectable_percent", r->shows > 0 && isfinite(r->shows),
                         number_fixed(r->shows, 3));
}

static struct export_name row_name(const struct diff_row *r) {
    return export_name(r->item->name, r->item->length);
}

static const struct diff_row *case_of(const struct writer *w, uint32_t i) {
    return i < w->rows ? &w->d->row[i] : &w->d->wall;
}

static uint32_t count_cases_of(const struct writer *w, enum diff_verdict v) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->cases; ++i) {
        n += case_of(w, i)->verdict == v;
    }
    return n;
}

static uint32_t count_failed(const struct writer *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->cases; ++i) {
        n += diff_row_fails(w->o, case_of(w, i)) != 0;
    }
    return n;
}

/* ---- JSON. */

static void put_json_string(struct sink *out, const char *key, const char *text) {
    sink_text(out, key);
    sink_json(out, text, strlen(text));
}

static void put_json_side(const struct writer *w, int side) {
    int at_least = 0;
    for (uint32_t i = 0; i < w->d->runs[side]; ++i) {
        at_least |= w->d->run[side][i].at_least;
    }
    put_json_string(w->out, "{\"program\":", text_or_unknown(w->d->run[side][0].program));
    put_json_string(w->out, ",\"host\":", text_or_unknown(w->d->run[side][0].host));
    export_add(w->out, ",\"runs\":%u,\"wall_ns\":%s", w->d->runs[side],
               number_fixed(w->d->wall.change.side[side], 0).text);
    if (at_least) {
        sink_text(w->out, ",\"wall_at_least\":true");
    }
    if (w->d->side_lost[side]) {
        sink_member_u64(w->out, "lost", w->d->side_lost[side]);
    }
    sink_text(w->out, ",\"conditions\":[");
    for (uint32_t i = 0; i < w->d->runs[side]; ++i) {
        put_json_string(w->out, i ? "," : "", w->d->run[side][i].conditions);
    }
    sink_text(w->out, "]}");
}

static void put_json_row(const struct writer *w, const struct diff_row *r) {
    struct cell_number cell[CELLS];
    struct export_name name = row_name(r);
    sink_text(w->out, "{\"name\":");
    sink_json(w->out, name.bytes, name.length);
    put_json_string(w->out, ",\"set\":", r->item->set);
    sink_text(w->out, r->gpu ? ",\"gpu\":true" : ",\"gpu\":false");
    put_json_string(w->out, ",\"verdict\":", diff_verdict_word(r->metric, r->verdict));
    if (r->change.known) {
        put_json_string(w->out, ",\"of\":", r->change.of);
    }
    fill_cells(r, cell);
    for (uint32_t i = 0; i < CELLS; ++i) {
        if (cell[i].known) {
            sink_member(w->out, cell[i].key);
            sink_text(w->out, cell[i].value.text);
        }
    }
    sink_put(w->out, "}", 1);
}

/* How paired runs were made. */
static void put_json_pairing(const struct writer *w) {
    static const char *const aslr[] = {"null", "false", "true"};
    const struct diff_pairing *p = w->o->paired;
    export_add(w->out, ",\n\"ab\":{\"pairs\":%u,\"warmups\":%u,\"seed\":%llu", w->d->runs[0],
               p->warmups, (unsigned long long)p->seed);
    export_add(w->out, ",\"mde_percent\":%s,\"alpha\":%s,\"aslr\":%s",
               number_fixed(100 * p->least, 3).text, number_short(p->alpha, 6).text,
               aslr[p->aslr + 1]);
    sink_member_u64(w->out, "undecided", w->d->verdicts[DIFF_UNSURE]);
    sink_member_u64(w->out, "not_judged", p->left);
    put_json_string(w->out, ",\"end\":", p->end);
    sink_text(w->out, "}");
}

static void write_json(const struct writer *w) {
    export_add(w->out, "{\"schema\":\"stint.diff/1\",\n\"unit\":\"%s\"", unit_of(w->o->metric));
    if (w->o->paired) {
        put_json_pairing(w);
    }
    const char *alternated = w->d->alternated ? "true" : "false";
    export_add(w->out, ",\n\"alternated\":%s,\n\"a\":", w->d->order_is_known ? alternated : "null");
    put_json_side(w, 0);
    sink_text(w->out, ",\n\"b\":");
    put_json_side(w, 1);
    sink_text(w->out, ",\n\"wall\":");
    put_json_row(w, &w->d->wall);
    sink_text(w->out, ",\n\"rows\":[");
    for (uint32_t i = 0; i < w->rows; ++i) {
        export_start_item(w->out, i);
        put_json_row(w, &w->d->row[i]);
    }
    sink_text(w->out, "]}\n");
}

/* ---- CSV. */

static void put_csv_text(const struct writer *w, const char *text) {
    export_csv_cell(w->out, export_text(text));
}

static void put_csv_row(const struct writer *w, const struct diff_row *r) {
    struct cell_number cell[CELLS];
    export_csv_cell(w->out, row_name(r));
    sink_put(w->out, ",", 1);
    put_csv_text(w, r->item->set);
    sink_text(w->out, r->gpu ? ",1," : ",0,");
    put_csv_text(w, diff_verdict_word(r->metric, r->verdict));
    sink_put(w->out, ",", 1);
    put_csv_text(w, unit_of(r->metric));
    sink_put(w->out, ",", 1);
    put_csv_text(w, r->change.known ? r->change.of : "");
    fill_cells(r, cell);
    for (uint32_t i = 0; i < CELLS; ++i) {
        sink_put(w->out, ",", 1);
        if (cell[i].known) {
            sink_text(w->out, cell[i].value.text);
        }
    }
    sink_put(w->out, "\r\n", 2);
}

static void write_csv(const struct writer *w) {
    struct cell_number cell[CELLS];
    static const struct diff_row none;
    fill_cells(&none, cell);
    sink_text(w->out, "name,set,gpu,verdict,unit,of");
    for (uint32_t i = 0; i < CELLS; ++i) {
        sink_put(w->out, ",", 1);
        sink_text(w->out, cell[i].key);
    }
    sink_put(w->out, "\r\n", 2);
    for (uint32_t i = 0; i < w->rows; ++i) {
        put_csv_row(w, &w->d->row[i]);
    }
}

/* ---- JUnit. */

/* Whether XML refuses the character. */
static int is_no_xml(uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff;
}

/* Text of an attribute or between tags. */
static void put_xml(struct sink *out, struct export_name text) {
    char clean[EXPORT_CLEAN_BYTES];
    size_t length = export_clean_without(clean, text, is_no_xml);
    for (size_t i = 0; i < length; ++i) {
        char c = clean[i];
        if (c == '&') {
            sink_text(out, "&amp;");
        } else if (c == '<') {
            sink_text(out, "&lt;");
        } else if (c == '>') {
            sink_text(out, "&gt;");
        } else if (c == '"') {
            sink_text(out, "&quot;");
        } else {
            sink_put(out, &c, 1);
        }
    }
}

/* "1200.0 -> 1500.0 ns (+25.0 %), 5 and 5 runs" */
static void put_change(const struct writer *w, const struct diff_row *r) {
    struct cell_number cell[CELLS];
    fill_cells(r, cell);
    const char *a = cell[0].known ? cell[0].value.text : "-";
    const char *b = cell[1].known ? cell[1].value.text : "-";
    export_add(w->out, "%s -> %s %s", a, b, unit_of(r->metric));
    if (cell[2].known) {
        double log = diff_change_log(&r->change);
        export_add(w->out, " (%s%s %%)", log > 0 ? "+" : "",
                   number_fixed(change_percent(log), 1).text);
    }
    export_add(w->out, ", %s and %s runs", cell[7].value.text, cell[8].value.text);
}

static void put_junit_message(const struct writer *w, const struct diff_row *r, const char *tag) {
    export_add(w->out, "<%s message=\"%s: ", tag, diff_verdict_word(r->metric, r->verdict));
    put_xml(w->out, row_name(r));
    sink_text(w->out, ": ");
    put_change(w, r);
    sink_text(w->out, "\"/>");
}

static void put_junit_case(const struct writer *w, const struct diff_row *r) {
    sink_text(w->out, "  <testcase classname=\"stint");
    if (*r->item->set) {
        sink_text(w->out, ".");
        put_xml(w->out, export_text(r->item->set));
    }
    sink_text(w->out, "\" name=\"");
    put_xml(w->out, row_name(r));
    sink_text(w->out, r->gpu ? " (GPU)\"" : "\"");
    if (r->seen[1] && !strcmp(unit_of(r->metric), "ns")) {
        export_add(w->out, " time=\"%s\"", number_fixed(r->change.side[1] / 1e9, 9).text);
    }
    sink_text(w->out, ">");
    if (diff_row_fails(w->o, r)) {
        put_junit_message(w, r, "failure");
    } else if (r->verdict == DIFF_UNSURE) {
        put_junit_message(w, r, "skipped");
    }
    sink_text(w->out, "</testcase>\n");
}

static void write_junit(const struct writer *w) {
    uint32_t more = w->nothing != 0;
    sink_text(w->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    export_add(w->out, "<testsuite name=\"%s\" tests=\"%u\" failures=\"%u\"", command_of(w),
               w->cases + more, count_failed(w) + more);
    export_add(w->out, " errors=\"0\" skipped=\"%u\">\n", count_cases_of(w, DIFF_UNSURE));
    for (uint32_t i = 0; i < w->cases; ++i) {
        put_junit_case(w, case_of(w, i));
    }
    if (w->nothing) {
        sink_text(w->out,
                  "  <testcase classname=\"stint\" name=\"rows\"><failure message=\"" DIFF_NOTHING
                  "\"/></testcase>\n");
    }
    sink_text(w->out, "</testsuite>\n");
}

/* ---- GitHub. */

/* A value of a workflow command; in a property, ':' and ',' end it, too. */
static void put_command_text(struct sink *out, struct export_name text) {
    static const char digits[] = "0123456789ABCDEF";
    char clean[EXPORT_CLEAN_BYTES];
    size_t length = export_clean(clean, text);
    for (size_t i = 0; i < length; ++i) {
        unsigned char c = (unsigned char)clean[i];
        if (c < 0x20 || c == 0x7f || strchr("%:,", c)) {
            char code[] = {'%', digits[c >> 4], digits[c & 15]};
            sink_put(out, code, sizeof code);
        } else {
            sink_put(out, &clean[i], 1);
        }
    }
}

static void put_annotation(const struct writer *w, const struct diff_row *r, const char *level) {
    export_add(w->out, "::%s title=%s of ", level, command_of(w));
    put_command_text(w->out, row_name(r));
    export_add(w->out, "%s%s::", r->gpu ? " (GPU) " : " ",
               diff_verdict_word(r->metric, r->verdict));
    put_command_text(w->out, row_name(r));
    sink_text(w->out, ": ");
    put_change(w, r);
    sink_text(w->out, "\n");
}

/* Errors are what --fail-on fails, warnings what is slower by less; other rows are counted. */
static void write_github(const struct writer *w) {
    for (uint32_t i = 0; i < w->cases; ++i) {
        const struct diff_row *r = case_of(w, i);
        if (diff_row_fails(w->o, r)) {
            put_annotation(w, r, "error");
        } else if (r->verdict == DIFF_SLOWER) {
            put_annotation(w, r, "warning");
        }
    }
    if (w->nothing) {
        sink_text(w->out, "::error::" DIFF_NOTHING "\n");
    }
    export_add(w->out, "::notice title=%s::", command_of(w));
    for (enum diff_verdict v = 0; v < DIFF_VERDICTS; ++v) {
        export_add(w->out, "%s%u %s", v ? ", " : "", count_cases_of(w, v),
                   diff_verdict_word(w->o->metric, v));
    }
    sink_text(w->out, "\n");
}

void diff_write(const struct diff *d, const struct diff_options *o, enum option_format format,
                uint32_t top, struct sink *out) {
    struct diff_options options = *o;
    struct writer w = {.d = d, .o = &options, .out = out, .rows = d->rows};
    w.nothing = options.fail.on && !d->rows;
    if (!options.fail.on) {
        options.fail.on = DIFF_FAIL_SLOWER;
    }
    if (top && top < w.rows) {
        w.rows = top;
    }
    w.cases = w.rows + ((options.fail.on & DIFF_FAIL_WALL) != 0);
    switch (format) {
    case OPTION_FORMAT_CSV:
        write_csv(&w);
        break;
    case OPTION_FORMAT_JUNIT:
        write_junit(&w);
        break;
    case OPTION_FORMAT_GITHUB:
        write_github(&w);
        break;
    default:
        write_json(&w);
    }
}
