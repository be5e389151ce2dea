/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the command top: the table with what was added to a run between two readings of its
 * file, and the terminal's screen.
 */
#ifndef STINT_TOOL_TOP_H
#define STINT_TOOL_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "model/run.h"

/* The value that the rows are sorted by, the largest first; in the order of --sort in
 * gen/options.ini. */
enum top_sort { TOP_BY_TIME, TOP_BY_SELF, TOP_BY_CALLS, TOP_BY_TOTAL, TOP_SORTS };

/* MORE: of the interval; ALL: since the run began. */
enum top_percentile { TOP_MORE_P50, TOP_MORE_P99, TOP_ALL_P50, TOP_ALL_P99, TOP_PERCENTILES };

struct top_row {
    char *name; /* allocated; with its set, and a NUL */
    size_t length;
    size_t key_length; /* without thread and state */
    uint64_t path;     /* a hash of the names around it; 0 in a flat table */
    uint32_t parent;   /* index, or SNAPSHOT_NONE */
    uint32_t depth;
    u128 calls, total_ns, self_ns;
    u128 more_calls, more_ns, more_self_ns;
    u128 open_ns; /* of all threads */
    u128 open_self_ns;
    uint64_t age_ns; /* of the call that has been open for the longest time; 0 = none */
    uint32_t thread; /* index, or SNAPSHOT_NONE: all */
    int has_memory;  /* allocations were counted */
    u128 mallocs, malloc_bytes, live_bytes;
    u128 more_mallocs, more_malloc_bytes;
    uint32_t source; /* its number in rows_flat */
    struct {
        uint64_t ns;
        int known;
        int or_more; /* it is a lower bound */
    } percentile[TOP_PERCENTILES];
};

struct metrics;

struct top_table {
    struct top_row *row;      /* parents before children */
    struct top_row **by_name; /* to find a row in the next reading */
    uint32_t count;
    int tree;
    int filtered;
    int has_memory; /* a row has */
    int has_percentiles;
    struct metrics *metrics; /* this reading; NULL of a tree, whose paths have no histograms */
    uint64_t wall_ns;
    uint64_t more_wall_ns;
    uint64_t lost;
    uint32_t open; /* scopes */
    char head[512];
};

struct top_table_form {
    uint32_t rows;   /* at most */
    uint32_t width;  /* 0 = any */
    uint32_t height; /* lines in all; 0 = any */
    int colour;
    enum top_sort sort;
    const char *keys; /* the line above the titles; "" = none */
    int typing;       /* it is what the user types */
};

/* Which rows a table has. A tree has a row per path; if it is filtered, the paths to the names that
 * are wanted. */
struct top_rows {
    int (*wanted)(const char *name, size_t length); /* NULL: all */
    int each_thread;
    int tree;
};

/* Takes the next reading; the first one has everything since the run began. 0, or -1 without
 * memory. */
int top_table_look(struct top_table *t, struct run *r, const struct top_rows *which);
/* "time", "self" ... */
const char *top_sort_name(enum top_sort sort);
/* Prints the rows. 0, or -1 without memory. */
int top_table_print(struct text *out, const struct top_table *t, const struct top_table_form *form);
void top_table_free(struct top_table *t);

/* ---- Percentiles, see top_percentiles.c. */

/* Reads the percentiles of a table that top_table_look reads; `then` has the reading before, or
 * nothing. 0, or -1 without memory. */
int top_percentiles_read(struct top_table *now, const struct top_table *then, struct run *r,
                         int each_thread);
void top_percentiles_free(struct top_table *t);

/* ---- The screen: the alternate one, without a cursor, and keys unbuffered. It is restored by
 * top_screen_leave, also after a signal. */

/* screen = 0: only signals are caught, which end the waiting. 0, or -1 with errno. */
int top_screen_enter(int screen);
/* May be called twice. */
void top_screen_leave(void);
/* As it is now: its size changes while it is shown. */
struct top_screen_size {
    uint32_t width;
    uint32_t height;
};
struct top_screen_size top_screen_measure(void);
/* Replaces what is shown by lines that are cut to the width, at most as many as the height. 0, or
 * -1 after one line. */
int top_screen_show(const char *text, size_t length, const struct top_screen_size *size);
/* The event that ended the wait for the next reading: the time, the user or a signal, another size
 * of the terminal, or a key that top_screen_wait does not know, which is in *key. While the user
 * types, letters are text: only ^C ends it. */
enum top_event { TOP_TIME, TOP_END, TOP_KEY, TOP_RESIZED };
enum top_event top_screen_wait(double seconds, int typing, char *key);

/* ---- Which rows of a tree are shown, and in which order; see top_tree.c. */

/* A row and the number that it is sorted by. */
struct top_order {
    const struct top_row *row;
    u128 value;
};

/* Reorders the rows, which are sorted, the largest first: parents before their children, and of
 * those with the same parent the largest first. Of more than `most` rows the largest are kept,
 * with the rows around them. Returns how many rows there are then, or -1 without memory. */
int64_t top_tree_arrange(struct top_order *order, const struct top_table *t, uint32_t most);

#endif
