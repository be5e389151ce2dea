/* SPDX-License-Identifier: Apache-2.0 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static void keep(struct samples *all, const struct sample *s) {
    if ((all->count & (all->count - 1)) == 0) {
        size_t size = all->count ? all->count * 2 : 64;
        struct sample *more = realloc(all->at, size * sizeof *more);
        if (!more) {
            fputs("overhead: out of memory\n", stderr);
            exit(1);
        }
        all->at = more;
    }
    all->at[all->count++] = *s;
}

void samples_add(struct samples *all, int config, const char *line) {
    struct sample s = {.config = config};
    unsigned long long run, counted;
    if (sscanf(line, "time %15s %7s %d %d %lf %lf", s.row, s.kernel, &s.thread, &s.repetition,
               &s.reference, &s.value) == 6) {
        keep(all, &s);
    } else if (sscanf(line, "count %15s %7s %llu %llu", s.row, s.kernel, &run, &counted) == 4) {
        if (run != counted) {
            fprintf(stderr, "overhead: %s of %s: %llu scopes ran, %llu were counted\n", s.row,
                    s.kernel, run, counted);
            all->wrong = 1;
        }
    } else {
        fprintf(stderr, "overhead: what is this: %s", line);
        all->wrong = 1;
    }
}

static double figure(const struct sample *s, enum of what) {
    switch (what) {
    case OF_RATIO:
        return s->value / s->reference;
    case OF_REFERENCE:
        return s->reference;
    case OF_VALUE:
        return s->value;
    default:
        return s->value - s->reference;
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Interpolates between the two nearest values, as most programs do. */
static double quantile(const double *sorted, size_t count, double q) {
    double at = q * (double)(count - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

struct quartiles samples_quartiles(const struct samples *all, int config, const char *row,
                                   const char *kernel, enum of what) {
    struct quartiles q = {0};
    double *figures = malloc((all->count + 1) * sizeof *figures);
    for (size_t i = 0; figures && i < all->count; ++i) {
        const struct sample *s = &all->at[i];
        if (s->config == config && !strcmp(s->row, row) && !strcmp(s->kernel, kernel)) {
            figures[q.count++] = figure(s, what);
        }
    }
    if (q.count) {
        qsort(figures, q.count, sizeof *figures, by_size);
        q.q1 = quantile(figures, q.count, 0.25);
        q.median = quantile(figures, q.count, 0.5);
        q.q3 = quantile(figures, q.count, 0.75);
    }
    free(figures);
    return q;
}
