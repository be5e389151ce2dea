/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Prometheus' text format, in base units (seconds), for export_prometheus.c. There are no
 * timestamps: node_exporter skips a file that has any. Two series with the same labels make the
 * scrape fail.
 */
#include "export_prometheus.h"

#include <string.h>

#include "base/number.h"
#include "base/visible.h"
#include "model/rows.h"

#define PERMILLE_NS ((uint64_t)1000000)

/* ---- Labels. */

void exposition_label_add(struct exposition_labels *l, const char *key, struct export_name value) {
    if (l->count < EXPOSITION_LABELS) {
        l->label[l->count].key = key;
        l->label[l->count].value = value;
        ++l->count;
    }
}

static int label_is_special(char c) {
    return c == '"' || c == '\\' || c == '\n';
}

/* A part of a label's value, with the characters escaped that the format requires. */
static void label_put_bytes(struct text *out, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        if (bytes[i] == '\n') {
            text_put(out, "\\n", 2);
            continue;
        }
        if (label_is_special(bytes[i])) {
            text_put(out, "\\", 1);
        }
        text_put(out, bytes + i, 1);
    }
}

static void label_put_value(struct text *out, struct export_name value, int terminal) {
    char clean[EXPORT_CLEAN_BYTES];
    size_t all = export_clean(clean, value), n;
    if (!terminal) {
        label_put_bytes(out, clean, all);
        return;
    }
    int utf8 = visible_in_utf8();
    for (size_t i = 0; i < all; i += n) {
        char shown[VISIBLE_PIECE];
        size_t length, columns;
        n = 1;
        if (label_is_special(clean[i])) {
            label_put_bytes(out, clean + i, n);
        } else {
            n = visible_character(clean + i, all - i, utf8, shown, &length, &columns);
            label_put_bytes(out, shown, length);
        }
    }
}

/* NAMESUFFIX{key="value",...}; extra: one more key, or NULL. */
static void series_put(struct exposition *x, const char *suffix, const struct exposition_labels *l,
                       const char *extra, const char *value) {
    struct exposition_family *f = &x->family[x->current];
    const char *before = "{";
    text_put(&f->series, f->name, strlen(f->name));
    text_put(&f->series, suffix, strlen(suffix));
    for (uint32_t i = 0; i < l->count; ++i) {
        text_add(&f->series, "%s%s=\"", before, l->label[i].key);
        label_put_value(&f->series, l->label[i].value, l->terminal);
        text_put(&f->series, "\"", 1);
        before = ",";
    }
    if (extra) {
        text_add(&f->series, "%s%s=\"%s\"", before, extra, value);
    }
    if (l->count || extra) {
        text_put(&f->series, "}", 1);
    }
}

/* ---- Values. */

static void number_put(struct exposition *x, u128 n) {
    text_add(&x->family[x->current].series, " %s\n", number_whole(n).text);
}

static void seconds_put(struct exposition *x, u128 ns) {
    text_add(&x->family[x->current].series, " %s\n", number_decimal(ns, 9).text);
}

/* Seconds without trailing zeros, with one decimal at least: labels. */
static struct number bound_number(uint64_t ns) {
    struct number n = number_decimal(ns, 9);
    size_t length = strlen(n.text);
    while (n.text[length - 1] == '0' && n.text[length - 2] != '.') {
        --length;
    }
    n.text[length] = '\0';
    return n;
}

static void put_sum_and_count(struct exposition *x, const struct exposition_labels *l, u128 sum_ns,
                              u128 count) {
    series_put(x, "_sum", l, NULL, NULL);
    seconds_put(x, sum_ns);
    series_put(x, "_count", l, NULL, NULL);
    number_put(x, count);
}

/* ---- Families. */

void exposition_start(struct exposition *x, struct sink *sink) {
    memset(x, 0, sizeof *x);
    x->sink = sink;
}

static uint32_t family_find(const struct exposition *x, const char *name) {
    uint32_t i = 0;
    while (i < x->families && strcmp(x->family[i].name, name)) {
        ++i;
    }
    return i;
}

/* Without a place to keep them, series go out as they come. */
static void series_flush(struct exposition *x) {
    struct text *series = &x->family[x->current].series;
    x->failed |= series->failed;
    if (x->sink) {
        sink_put(x->sink, series->data, series->length);
        series->length = 0;
    }
}

static void family_put_head(struct text *out, const struct exposition_family *f) {
    text_add(out, "# HELP %s %s\n# TYPE %s %s\n", f->name, f->help, f->name, f->type);
}

void exposition_family(struct exposition *x, const char *name, const char *type, const char *help) {
    uint32_t at = x->sink ? 0 : family_find(x, name);
    if (at == EXPOSITION_FAMILIES) {
        x->failed = 1;
        return;
    }
    struct exposition_family *f = &x->family[at];
    x->current = at;
    f->name = name;
    f->type = type;
    f->help = help;
    if (at == x->families) {
        text_start(&f->series);
        ++x->families;
    }
    if (x->sink) {
        family_put_head(&f->series, f);
        series_flush(x);
    }
}

void exposition_number(struct exposition *x, const struct exposition_labels *l, u128 value,
                       enum exposition_unit unit) {
    series_put(x, "", l, NULL, NULL);
    if (unit == EXPOSITION_SECONDS) {
        seconds_put(x, value);
    } else {
        number_put(x, value);
    }
    series_flush(x);
}

void exposition_summary(struct exposition *x, const struct exposition_labels *l,
                        const struct exposition_summary *m) {
    static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;
    for (uint32_t i = 0; i < m->percentiles; ++i) {
        series_put(x, "", l, "quantile", bound_number(permilles[i] * PERMILLE_NS).text);
        seconds_put(x, m->percentile_ns[i]);
    }
    put_sum_and_count(x, l, m->sum_ns, m->count);
    series_flush(x);
}

void exposition_histogram(struct exposition *x, const struct exposition_labels *l,
                          const struct exposition_histogram *m) {
    for (uint32_t i = 0; i < EXPOSITION_BOUNDS; ++i) {
        series_put(x, "_bucket", l, "le", bound_number(exposition_bound_ns(i)).text);
        number_put(x, m->up_to[i]);
    }
    series_put(x, "_bucket", l, "le", "+Inf");
    number_put(x, m->count);
    put_sum_and_count(x, l, m->sum_ns, m->count);
    series_flush(x);
}

int exposition_put(struct text *out, const struct exposition *x) {
    for (uint32_t i = 0; i < x->families; ++i) {
        family_put_head(out, &x->family[i]);
        text_put(out, x->family[i].series.data, x->family[i].series.length);
    }
    return out->failed || x->failed ? -1 : 0;
}

void exposition_free(struct exposition *x) {
    for (uint32_t i = 0; i < x->families; ++i) {
        text_free(&x->family[i].series);
    }
    memset(x, 0, sizeof *x);
}
