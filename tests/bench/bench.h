/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overhead.c starts a process per configuration, which measures (measure.c) and writes lines to a
 * pipe; overhead.c keeps them (samples.c) and prints the tables (table.c).
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stddef.h>
#include <stdio.h>

/* The settings in the environment of a measuring process. */
#define CONFIGS 5
struct config {
    const char *percentiles;
    const char *trace;
    int file;
};
extern const struct config configs[CONFIGS];

/* One repetition. config: index into configs. Both times in ns a scope, measured one
 * right after the other. */
struct sample {
    int config;
    char row[16];
    char kernel[8];
    int thread;
    int repetition;
    double reference;
    double value;
};

struct samples {
    struct sample *at;
    size_t count;
    int wrong; /* scopes counted differently from what was run, or a line not understood */
};

struct quartiles {
    size_t count;
    double q1, median, q3;
};

enum of { OF_RATIO, OF_REFERENCE, OF_VALUE, OF_DIFFERENCE };

/* Takes a line of measure(). */
void samples_add(struct samples *all, int config, const char *line);
/* Returns the quartiles of a row over all repetitions and threads; count 0: there is none. */
struct quartiles samples_quartiles(const struct samples *all, int config, const char *row,
                                   const char *kernel, enum of what);

/* Measures in this process and writes lines. quick: a few scopes, to see that everything runs. */
void measure(int config, int quick, FILE *out);

/* 0, or the number of rows that are missing. */
int table_print(const struct samples *all, FILE *out);

#endif
