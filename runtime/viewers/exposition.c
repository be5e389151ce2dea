/* SPDX-License-Identifier: Apache-2.0 */
#include "exposition.h"

#include <string.h>

void exposition_start(struct exposition *x, const struct prometheus_form *form) {
    memset(x, 0, sizeof *x);
    x->form = form;
}

static uint32_t family_find(const struct exposition *x, const char *name) {
    uint32_t i = 0;
    while (i < x->families && strcmp(x->family[i].family.name, name)) {
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

void exposition_family(struct exposition *x, const char *name, const char *type, const char *help) {
    uint32_t at = x->sink ? 0 : family_find(x, name);
    if (at == EXPOSITION_FAMILIES) {
        x->failed = 1;
        return;
    }
    struct exposition_family *f = &x->family[at];
    x->current = at;
    f->family = (struct prometheus_family){name, type, help};
    if (at == x->families) {
        text_start(&f->series);
        ++x->families;
    }
    if (x->sink) {
        const struct text none = {0};
        x->form->family(&f->series, &f->family, &none);
        series_flush(x);
    }
}

void exposition_number(struct exposition *x, const struct prometheus_labels *l, uint64_t value,
                       enum prometheus_unit unit) {
    struct exposition_family *f = &x->family[x->current];
    x->form->number(&f->series, &f->family, l, value, unit);
    series_flush(x);
}

void exposition_summary(struct exposition *x, const struct prometheus_labels *l,
                        const struct prometheus_summary *m) {
    struct exposition_family *f = &x->family[x->current];
    x->form->summary(&f->series, &f->family, l, m);
    series_flush(x);
}

void exposition_histogram(struct exposition *x, const struct prometheus_labels *l,
                          const struct prometheus_histogram *m) {
    struct exposition_family *f = &x->family[x->current];
    x->form->histogram(&f->series, &f->family, l, m);
    series_flush(x);
}

int exposition_put(struct text *out, const struct exposition *x) {
    for (uint32_t i = 0; i < x->families; ++i) {
        x->form->family(out, &x->family[i].family, &x->family[i].series);
    }
    return out->failed || x->failed ? -1 : 0;
}

void exposition_free(struct exposition *x) {
    for (uint32_t i = 0; i < x->families; ++i) {
        text_free(&x->family[i].series);
    }
    memset(x, 0, sizeof *x);
}
