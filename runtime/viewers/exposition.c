/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins the text expositions of runs, which export_prometheus.c writes: a family may be there once
 * only. Protobuf is made from the same text, so that both have the same families; its histograms
 * are native ones, made from metrics. The text is stint's own: its form is known, its labels are
 * escaped. Called by the export prometheus-native and by `stint export --serve`.
 */
#include "exposition.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/number.h"
#include "export/export_names.h"
#include "formats.h"
#include "wire.h"

/* Fields of io.prometheus.client.MetricFamily, Metric and Histogram. */
enum { FAMILY_NAME = 1, FAMILY_HELP = 2, FAMILY_TYPE = 3, FAMILY_METRIC = 4 };
enum { METRIC_LABEL = 1, METRIC_GAUGE = 2, METRIC_COUNTER = 3, METRIC_SUMMARY = 4 };
enum { METRIC_HISTOGRAM = 7 };
enum { TYPE_COUNTER = 0, TYPE_GAUGE = 1, TYPE_SUMMARY = 2, TYPE_HISTOGRAM = 4 };

/* 2^-128, as client libraries have it: without it a histogram of zeros would not be a native one.
 * */
#define ZERO_THRESHOLD 2.938735877055719e-39
/* Empty buckets between two others that cost less than a new span. */
#define SPAN_GAP 2u

static const char *const native_names[2] = {"stint_scope_duration_seconds",
                                            "stint_scope_gpu_duration_seconds"};

/* ---- Reading text. */

struct piece {
    const char *at;
    size_t length;
};

/* Up to the next space or the end. */
static struct piece take_word(struct piece *line) {
    const char *space = memchr(line->at, ' ', line->length);
    size_t n = space ? (size_t)(space - line->at) : line->length;
    struct piece word = {line->at, n};
    size_t skip = space ? n + 1 : n;
    line->at += skip;
    line->length -= skip;
    return word;
}

static struct piece take_line(struct piece *rest) {
    const char *end = memchr(rest->at, '\n', rest->length);
    size_t n = end ? (size_t)(end - rest->at) : rest->length;
    struct piece line = {rest->at, n};
    size_t skip = end ? n + 1 : n;
    rest->at += skip;
    rest->length -= skip;
    return line;
}

static int piece_is(struct piece p, const char *text) {
    return p.length == strlen(text) && !memcmp(p.at, text, p.length);
}

static int piece_begins(struct piece p, const char *text) {
    return p.length >= strlen(text) && !memcmp(p.at, text, strlen(text));
}

/* ---- Joining. */

static struct exposition_family *family_get(struct exposition *x, struct piece name) {
    for (uint32_t i = 0; i < x->families; ++i) {
        if (piece_is(name, x->family[i].name)) {
            return &x->family[i];
        }
    }
    if (x->families == EXPOSITION_FAMILIES) {
        return NULL;
    }
    struct exposition_family *f = &x->family[x->families];
    memset(f, 0, sizeof *f);
    f->name = strndup(name.at, name.length);
    text_start(&f->series);
    if (!f->name) {
        return NULL;
    }
    ++x->families;
    return f;
}

static void label_escape(struct text *out, const char *value) {
    for (; *value; ++value) {
        if (*value == '\n') {
            text_put(out, "\\n", 2);
            continue;
        }
        if (*value == '"' || *value == '\\') {
            text_put(out, "\\", 1);
        }
        text_put(out, value, 1);
    }
}

/* host="a",pid="1",rank="0" */
static void process_labels(struct text *out, const struct metrics *m) {
    text_add(out, "host=\"");
    label_escape(out, m->host);
    text_add(out, "\",pid=\"%u\"", m->pid);
    if (m->rank) {
        text_add(out, ",rank=\"%u\"", m->rank - 1);
    }
}

/* A series with the labels of its process first. stint_run_info has labels of these names. */
static void series_add(struct exposition_family *f, struct piece line, const struct text *labels) {
    size_t name = 0;
    while (name < line.length && line.at[name] != '{' && line.at[name] != ' ') {
        ++name;
    }
    if (!labels->length || piece_begins(line, "stint_run_info{")) {
        text_put(&f->series, line.at, line.length);
    } else {
        text_put(&f->series, line.at, name);
        text_put(&f->series, "{", 1);
        text_put(&f->series, labels->data, labels->length);
        if (line.at[name] == '{') {
            text_put(&f->series, ",", 1);
            ++name;
        } else {
            text_put(&f->series, "}", 1);
        }
        text_put(&f->series, line.at + name, line.length - name);
    }
    text_put(&f->series, "\n", 1);
}

static int text_join(struct exposition *x, struct piece rest, const struct text *labels) {
    struct exposition_family *f = NULL;
    while (rest.length) {
        struct piece line = take_line(&rest);
        if (!piece_begins(line, "# ")) {
            if (f) {
                series_add(f, line, labels);
            }
            continue;
        }
        take_word(&line);
        struct piece what = take_word(&line), name = take_word(&line);
        f = family_get(x, name);
        if (!f) {
            return -1;
        }
        char **to = piece_is(what, "HELP") ? &f->help : &f->type;
        if (!*to) {
            *to = strndup(line.at, line.length);
        }
        if (!*to) {
            return -1;
        }
    }
    return 0;
}

/* The text exposition of a run, in memory that the caller unmaps. 0, or -1. */
static int text_of_run(struct piece *out, struct run *r) {
    struct sink *sink = malloc(sizeof *sink);
    int fd = memfd_create("stint", MFD_CLOEXEC);
    int failed = !sink || fd < 0;
    out->length = 0;
    if (!failed) {
        sink_start(sink, fd);
        failed = export_prometheus(sink, r) || sink_close(sink);
        out->length = sink->written;
    }
    void *map = MAP_FAILED;
    if (!failed && out->length) {
        map = mmap(NULL, out->length, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    out->at = map;
    if (fd >= 0) {
        close(fd);
    }
    free(sink);
    return map == MAP_FAILED ? -1 : 0;
}

/* ---- Native histograms. */

static void label_put(struct text *out, const char *name, const char *value) {
    size_t label = wire_begin(out, METRIC_LABEL);
    wire_put_bytes(out, 1, name, strlen(name));
    wire_put_bytes(out, 2, value, strlen(value));
    wire_end(out, label);
}

static void process_put(struct text *out, const struct metrics *m) {
    char number[16];
    label_put(out, "host", m->host);
    snprintf(number, sizeof number, "%u", m->pid);
    label_put(out, "pid", number);
    if (m->rank) {
        snprintf(number, sizeof number, "%u", m->rank - 1);
        label_put(out, "rank", number);
    }
}

/* The end of the span that begins at `from`: after a bucket in use, before a gap. */
static uint32_t span_end(const struct metric_exponential *x, uint32_t from) {
    uint32_t end = from;
    for (uint32_t i = from; i < x->length && i <= end + SPAN_GAP; ++i) {
        if (x->count[i]) {
            end = i + 1;
        }
    }
    return end;
}

/* positive_span 12 {offset 1, length 2}; the first offset is an index, which is one more than
 * that of OpenTelemetry, the others are gaps. */
static void spans_put(struct text *out, const struct metric_exponential *x) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < x->length;) {
        if (!x->count[i]) {
            ++i;
            continue;
        }
        uint32_t end = span_end(x, i);
        int64_t offset = before ? (int64_t)i - before : (int64_t)x->offset + 1 + i;
        size_t span = wire_begin(out, 12);
        wire_put_number(out, 1, wire_zigzag(offset));
        wire_put_number(out, 2, end - i);
        wire_end(out, span);
        before = i = end;
    }
}

/* positive_delta 13: of each bucket of the spans from the one before. */
static void deltas_put(struct text *out, const struct metric_exponential *x) {
    int64_t before = 0;
    size_t deltas = wire_begin(out, 13);
    for (uint32_t i = 0; i < x->length;) {
        uint32_t end = x->count[i] ? span_end(x, i) : i + 1;
        for (uint32_t k = i; k < end && x->count[i]; ++k) {
            wire_put_varint(out, wire_zigzag((int64_t)x->count[k] - before));
            before = (int64_t)x->count[k];
        }
        i = end;
    }
    wire_end(out, deltas);
}

static int native_put(struct text *out, struct metrics *m, const struct metric_histogram *h,
                      int processes) {
    struct metric_exponential x;
    if (metric_to_exponential(&x, m, h)) {
        return -1;
    }
    size_t metric = wire_begin(out, FAMILY_METRIC);
    if (processes) {
        process_put(out, m);
    }
    label_put(out, "name", h->label.name);
    label_put(out, "set", h->label.set);
    size_t histogram = wire_begin(out, METRIC_HISTOGRAM);
    wire_put_number(out, 1, h->count);
    wire_put_fixed(out, 2, wire_double_bits((double)h->sum_ns / 1e9));
    wire_put_number(out, 5, wire_zigzag(METRIC_SCALE));
    wire_put_fixed(out, 6, wire_double_bits(ZERO_THRESHOLD));
    wire_put_number(out, 7, x.zero);
    spans_put(out, &x);
    deltas_put(out, &x);
    wire_end(out, histogram);
    wire_end(out, metric);
    return 0;
}

/* ---- Adding a run. */

void exposition_start(struct exposition *x, int native, int processes) {
    memset(x, 0, sizeof *x);
    x->native = native;
    x->processes = processes;
    text_start(&x->histograms[0]);
    text_start(&x->histograms[1]);
}

int exposition_add(struct exposition *x, struct run *r) {
    struct metrics m;
    struct piece text;
    struct text labels;
    if (metrics_read(&m, r, 0)) {
        return -1;
    }
    text_start(&labels);
    if (x->processes) {
        process_labels(&labels, &m);
    }
    int failed = 0;
    for (uint32_t i = 0; i < m.histograms && x->native && !failed; ++i) {
        const struct metric_histogram *h = &m.histogram[i];
        failed = native_put(&x->histograms[h->gpu], &m, h, x->processes);
    }
    if (!failed && !text_of_run(&text, r)) {
        failed = text_join(x, text, &labels);
        munmap((void *)(uintptr_t)text.at, text.length);
    } else {
        failed = -1;
    }
    text_free(&labels);
    metrics_free(&m);
    x->failed |= failed;
    return failed;
}

void exposition_free(struct exposition *x) {
    for (uint32_t i = 0; i < x->families; ++i) {
        free(x->family[i].name);
        free(x->family[i].help);
        free(x->family[i].type);
        text_free(&x->family[i].series);
    }
    text_free(&x->histograms[0]);
    text_free(&x->histograms[1]);
    memset(x, 0, sizeof *x);
}

/* ---- Protobuf of the other families. */

/* A series, taken apart. */
struct series {
    struct piece name;
    struct piece labels; /* without the braces */
    double value;
};

static int series_read(struct series *out, struct piece line) {
    size_t n = 0;
    memset(out, 0, sizeof *out);
    while (n < line.length && line.at[n] != '{' && line.at[n] != ' ') {
        ++n;
    }
    out->name = (struct piece){line.at, n};
    size_t value = line.length;
    while (value && line.at[value - 1] != ' ') {
        --value;
    }
    if (!value || value <= n) {
        return -1;
    }
    if (line.at[n] == '{') {
        out->labels = (struct piece){line.at + n + 1, value - n - 3}; /* without `{` and `} ` */
    }
    char number[64];
    snprintf(number, sizeof number, "%.*s", (int)(line.length - value), line.at + value);
    return number_parse(number, &out->value) ? 0 : -1;
}

/* Takes key="value" from the front; 0 at the end. The value stays escaped. */
static int label_take(struct piece *rest, struct piece *key, struct piece *value) {
    if (!rest->length) { /* `at` may be NULL */
        return 0;
    }
    const char *equals = memchr(rest->at, '=', rest->length);
    if (!equals) {
        return 0;
    }
    *key = (struct piece){rest->at, (size_t)(equals - rest->at)};
    size_t from = key->length + 2, end = from;
    while (end < rest->length && rest->at[end] != '"') {
        end += rest->at[end] == '\\' ? 2 : 1;
    }
    if (end >= rest->length) {
        return 0;
    }
    *value = (struct piece){rest->at + from, end - from};
    size_t skip = end + 1;
    if (skip < rest->length && rest->at[skip] == ',') {
        ++skip;
    }
    rest->at += skip;
    rest->length -= skip;
    return 1;
}

static size_t unescape(char *out, struct piece value) {
    size_t n = 0;
    for (size_t i = 0; i < value.length; ++i) {
        char c = value.at[i];
        if (c == '\\' && i + 1 < value.length) {
            c = value.at[++i];
            if (c == 'n') {
                c = '\n';
            }
        }
        out[n++] = c;
    }
    return n;
}

/* The value of the label quantile; empty without one. */
static struct piece quantile_of(struct piece labels) {
    struct piece key, value;
    while (label_take(&labels, &key, &value)) {
        if (piece_is(key, "quantile")) {
            return value;
        }
    }
    return (struct piece){"", 0};
}

static void labels_put(struct text *out, struct piece labels) {
    struct piece key, value;
    while (label_take(&labels, &key, &value)) {
        size_t label = wire_begin(out, METRIC_LABEL);
        wire_put_bytes(out, 1, key.at, key.length);
        char plain[16 * EXPORT_NAME_BYTES];
        wire_put_bytes(out, 2, plain, unescape(plain, value));
        wire_end(out, label);
    }
}

static void value_put(struct text *out, const struct series *s, unsigned field) {
    size_t metric = wire_begin(out, FAMILY_METRIC);
    labels_put(out, s->labels);
    size_t value = wire_begin(out, field);
    wire_put_fixed(out, 1, wire_double_bits(s->value));
    wire_end(out, value);
    wire_end(out, metric);
}

/* A summary is several lines: quantiles, _sum, and _count, which is the last. */
struct summary_lines {
    struct text quantiles;
    double sum;
};

static void summary_put(struct text *out, struct summary_lines *lines, const struct series *s) {
    struct piece name = s->name;
    struct piece quantile = quantile_of(s->labels);
    if (quantile.length) {
        char number[32];
        double q = 0;
        snprintf(number, sizeof number, "%.*s", (int)quantile.length, quantile.at);
        number_parse(number, &q);
        size_t message = wire_begin(&lines->quantiles, 3);
        wire_put_fixed(&lines->quantiles, 1, wire_double_bits(q));
        wire_put_fixed(&lines->quantiles, 2, wire_double_bits(s->value));
        wire_end(&lines->quantiles, message);
        return;
    }
    if (name.length > 4 && !memcmp(name.at + name.length - 4, "_sum", 4)) {
        lines->sum = s->value;
        return;
    }
    size_t metric = wire_begin(out, FAMILY_METRIC);
    labels_put(out, s->labels);
    size_t summary = wire_begin(out, METRIC_SUMMARY);
    wire_put_number(out, 1, (uint64_t)s->value);
    wire_put_fixed(out, 2, wire_double_bits(lines->sum));
    text_put(out, lines->quantiles.data, lines->quantiles.length);
    wire_end(out, summary);
    wire_end(out, metric);
    lines->quantiles.length = 0;
}

static void family_begin(struct text *out, const char *name, const char *help, unsigned type) {
    wire_put_bytes(out, FAMILY_NAME, name, strlen(name));
    wire_put_bytes(out, FAMILY_HELP, help, strlen(help));
    wire_put_number(out, FAMILY_TYPE, type);
}

/* A message with its length before it. */
static void family_end(struct text *out, struct text *message) {
    wire_put_varint(out, message->length);
    text_put(out, message->data, message->length);
    out->failed |= message->failed;
    text_free(message);
}

static unsigned family_type(const struct exposition_family *f) {
    if (!strcmp(f->type, "counter")) {
        return TYPE_COUNTER;
    }
    return strcmp(f->type, "summary") ? TYPE_GAUGE : TYPE_SUMMARY;
}

static void family_put_native(struct text *out, const struct exposition_family *f) {
    struct text message;
    struct summary_lines lines = {.sum = 0};
    struct piece rest = {f->series.data, f->series.length};
    unsigned type = family_type(f);
    text_start(&message);
    text_start(&lines.quantiles);
    family_begin(&message, f->name, f->help, type);
    while (rest.length) {
        struct series s;
        if (series_read(&s, take_line(&rest))) {
            continue;
        }
        if (type == TYPE_SUMMARY) {
            summary_put(&message, &lines, &s);
        } else {
            value_put(&message, &s, type == TYPE_COUNTER ? METRIC_COUNTER : METRIC_GAUGE);
        }
    }
    text_free(&lines.quantiles);
    family_end(out, &message);
}

static void family_put_text(struct text *out, const struct exposition_family *f) {
    text_add(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
    text_put(out, f->series.data, f->series.length);
    out->failed |= f->series.failed;
}

static void histograms_put(struct text *out, const struct exposition *x,
                           const struct exposition_family *f) {
    struct text message;
    int gpu = !strcmp(f->name, native_names[1]);
    if (!x->histograms[gpu].length) {
        return;
    }
    text_start(&message);
    family_begin(&message, f->name, f->help, TYPE_HISTOGRAM);
    text_put(&message, x->histograms[gpu].data, x->histograms[gpu].length);
    message.failed |= x->histograms[gpu].failed;
    family_end(out, &message);
}

int exposition_put(struct text *out, const struct exposition *x) {
    for (uint32_t i = 0; i < x->families; ++i) {
        const struct exposition_family *f = &x->family[i];
        if (!f->help || !f->type) {
            continue;
        }
        if (!x->native) {
            family_put_text(out, f);
        } else if (!strcmp(f->type, "histogram")) {
            histograms_put(out, x, f);
        } else if (f->series.length) {
            family_put_native(out, f);
        }
    }
    return out->failed || x->failed ? -1 : 0;
}
