/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of one program as series for change detection: history.c reads them, history_write.c writes
 * a CSV file for each scope and the otava.yaml that names them. docs/trend.md is the manual.
 */
#ifndef STINT_TOOL_HISTORY_H
#define STINT_TOOL_HISTORY_H

#include <stdint.h>

#include "base/hash_map.h"
#include "base/scratch.h"
#include "model/rows.h"

#define HISTORY_RUNS 10000u

struct history_run {
    uint64_t start_ns; /* CLOCK_REALTIME */
    uint64_t start_ticks;
    uint32_t pid;
    const char *path;
    const char *host;
    const char *program;
    const char *label;   /* or the name of the file */
    const char *machine; /* "16 x AMD EPYC 7R13" */
};

/* Whether otava judges a number, and whether only some runs have it. */
enum history_kind { HISTORY_COUNT, HISTORY_TIME, HISTORY_SOME };

struct history_column {
    const char *name;
    const char *key;
    enum history_kind kind;
    struct row_field field;
    struct row_field gpu;
    int has_gpu;
    uint64_t needs; /* ROW_* */
};

#include "history_columns.inc"

/* The calls of a scope in one run. */
struct history_value {
    u128 number[HISTORY_COLUMNS];
    uint32_t run;
};

/* A scope's times on the CPU or on the GPU, in the runs that have them. */
struct history_series {
    const char *name;
    uint32_t name_length;
    int gpu;
    const char *set;   /* "" = the default one */
    const char *title; /* of its file, without .csv, and of its test in otava.yaml */
    uint32_t known;    /* the columns that all runs have: a bit each */
    struct history_value *value;
    uint32_t count;
    uint32_t room;
};

struct history {
    struct scratch memory;
    struct history_run *run; /* in the order in which they began */
    uint32_t runs;
    struct history_series *series;
    uint32_t count;
    uint32_t room;
    struct hash_map series_of; /* hashes of name, set and gpu to series */
};

/* The export history: reads run files and folders of them, and writes into a folder, which is made
 * if it does not exist. The exit status; each file that is left out has one line. */
int history_export(const char *folder, int count, char **paths);

/* ---- history_write.c */

/* Writes the files, otava.yaml last: what it names is complete. The exit status, after one line if
 * it is not 0. */
int history_write(struct history *h, const char *folder);

#endif
