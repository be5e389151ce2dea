/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables that `overhead` prints: a row for each case, with the medians and quartiles of all
 * repetitions, and its limits. A figure is marked if it is over its limit.
 */
#include "bench.h"

#include <string.h>
#include <unistd.h>

#define EQUAL 0.03 /* smaller differences between ratios are the machine's */

enum limit {
    ALONE,    /* the ratio itself */
    ON_ROW,   /* what it adds to the row "+ percentiles" */
    NANOSECS, /* what it adds to the plain body, in ns */
    BYTES
};

/* must, goal: 0 = none. */
static const struct row {
    const char *title, *id;
    int config;
    enum limit limit;
    double must, goal;
} rows[] = {
    {"on, switched off at run time", "off", 1, ALONE, 0.05, 0.02},
    {"off, on a thread without scopes", "off_thread", 1, ALONE, 0.05, 0.02},
    {"call tree", "one", 0, ALONE, 1.20, 1.12},
    {"+ percentiles (the default)", "one", 1, ALONE, 1.32, 1.20},
    {"+ trace ring", "one", 2, ALONE, 1.42, 1.28},
    {"percentiles, in a file", "one", 3, ON_ROW, 0.03, 0},
    {"+ trace ring, in a file", "one", 4, ALONE, 1.42, 1.28},
    {"+ trace ring, nested 4 deep", "nested", 2, ALONE, 0, 0},
    {"nested 4 deep, four functions", "nested", 1, ON_ROW, 0.10, 0.05},
    {"nested 4 deep, one function", "block", 1, ON_ROW, 0.10, 0.05},
    {"64 sites", "sites", 1, ON_ROW, 0.10, 0.05},
    {"alternating parents", "parents", 1, ON_ROW, 0.10, 0.05},
    {"2 threads on one site", "threads", 1, ON_ROW, 0.0001, 0},
    {"2 threads, + trace ring", "threads", 2, ALONE, 0, 0},
    {"with info", "info", 1, ON_ROW, 0.05, 0},
    {"with a threshold", "threshold", 1, ON_ROW, 0.05, 0},
    {"recursion, 8 deep", "recursion", 1, ALONE, 1.8, 1.3},
    {"recursion, 64 deep", "deep", 1, ALONE, 1.8, 1.3},
    {"recursion through another scope", "mutual", 1, ALONE, 1.8, 1.3},
    {"dynamic name, 64 of 16 bytes", "dynamics", 1, ALONE, 2.0, 1.5},
    {"100 ns body, call tree", "body", 0, NANOSECS, 20, 0},
    {"100 ns body, + percentiles", "body", 1, NANOSECS, 20, 0.0001},
    {"100 ns body, + trace ring", "body", 2, NANOSECS, 0, 0},
    {"code per scope", "bytes", 1, BYTES, 64, 48},
};

static const struct {
    const char *id, *title;
} variants[] = {
    {"exe2", "executable, STINT_INLINE=2: one local copy a translation unit"},
    {"exe1", "executable, STINT_INLINE=1: all inline"},
    {"lib2", BENCH_LIBRARY ", STINT_INLINE=2"},
    {"lib1", BENCH_LIBRARY ", STINT_INLINE=1"},
#ifdef BENCH_CXX
    {"cxe2", "C++, executable, STINT_INLINE=2"},
    {"cxe1", "C++, executable, STINT_INLINE=1"},
    {"cxl2", "C++, " BENCH_LIBRARY ", STINT_INLINE=2"},
    {"cxl1", "C++, " BENCH_LIBRARY ", STINT_INLINE=1"},
#endif
};
#define VARIANT_COUNT (sizeof variants / sizeof variants[0])

static double body_floor(const struct samples *all, int config) {
    return samples_quartiles(all, config, "body_floor", "all", OF_DIFFERENCE).median;
}

static const char *mark(double figure, double must, double goal, double equal) {
    if (must <= 0) {
        return "";
    }
    if (figure > must) {
        return figure < must + equal ? "OK, equal" : "over";
    }
    return goal > 0 && figure <= goal ? "OK, goal" : "OK";
}

static void limits_text(const struct row *r, double goal, char must[16], char goal_text[16]) {
    static const char *const formats[] = {"%.2f", "row+%.2f", "+%.1f ns", "%.0f B"};
    must[0] = goal_text[0] = '\0';
    if (r->must > 0) {
        snprintf(must, 16, formats[r->limit], r->must);
    }
    if (goal > 0) {
        snprintf(goal_text, 16, formats[r->limit], goal);
    }
    if (!strcmp(r->id, "threads") && r->must > 0) {
        snprintf(must, 16, "= 1 thread");
    }
}

/* 0, or 1 when there is no such figure. */
static int row_print(const struct samples *all, const struct row *r, const char *variant,
                     FILE *out) {
    enum of what = r->limit == NANOSECS ? OF_DIFFERENCE : OF_RATIO;
    struct quartiles q = samples_quartiles(all, r->config, r->id, variant, what);
    struct quartiles base = samples_quartiles(all, 1, "one", variant, OF_RATIO);
    double goal = r->limit == NANOSECS && r->goal > 0 ? body_floor(all, 1) + 2 : r->goal;
    double figure = r->limit == ON_ROW ? q.median - base.median : q.median;
    char must_text[16], goal_text[16], text[64], more[32] = "";
    limits_text(r, goal, must_text, goal_text);
    if (!q.count) {
        int one_cpu = !strcmp(r->id, "threads") && sysconf(_SC_NPROCESSORS_ONLN) < 2;
        fprintf(out, "  %-31s %10s %9s  %s\n", r->title, must_text, goal_text,
                one_cpu ? "needs two CPUs" : "missing");
        return !one_cpu;
    }
    if (r->limit == BYTES) {
        snprintf(text, sizeof text, "%7.1f", q.median);
    } else {
        snprintf(text, sizeof text, "%7.2f [%.2f .. %.2f]", q.median, q.q1, q.q3);
        if (r->limit == NANOSECS) {
            snprintf(more, sizeof more, "%.2f x floor", q.median / body_floor(all, r->config));
        } else {
            struct quartiles ns = samples_quartiles(all, r->config, r->id, variant, OF_VALUE);
            snprintf(more, sizeof more, "%.2f ns", ns.median);
        }
    }
    fprintf(out, "  %-31s %10s %9s  %-24s %12s", r->title, must_text, goal_text, text, more);
    if (r->limit == ON_ROW) {
        fprintf(out, "  %+.2f", figure);
    } else {
        fprintf(out, "       ");
    }
    fprintf(out, "  %s\n", mark(figure, r->must, goal, r->limit <= ON_ROW ? EQUAL : 0));
    return 0;
}

static int many_print(const struct samples *all, FILE *out) {
    int missing = 0;
    fprintf(out, "\na program of 300 functions, a scope in each (ns a scope, against no timers)\n");
    fprintf(out, "  %-47s %12s %28s %10s\n", "variant", "code", "call tree", "+ percent.");
    struct quartiles off = samples_quartiles(all, 1, "many", "exe2", OF_REFERENCE);
    struct quartiles off_bytes = samples_quartiles(all, 1, "many_bytes", "exe2", OF_REFERENCE);
    fprintf(out, "  %-47s %10.0f B   the body alone: %.1f ns\n", "no timers", off_bytes.median,
            off.median);
    for (size_t v = 0; v < 2; ++v) { /* those of the executable */
        fprintf(out, "  %-47.47s", variants[v].title);
        fprintf(out, " %10.0f B",
                samples_quartiles(all, 1, "many_bytes", variants[v].id, OF_VALUE).median);
        for (int config = 0; config < 2; ++config) {
            struct quartiles q =
                samples_quartiles(all, config, "many", variants[v].id, OF_DIFFERENCE);
            missing += !q.count;
            fprintf(out, "  %+6.1f [%.1f .. %.1f]", q.median, q.q1, q.q3);
        }
        fprintf(out, "\n");
    }
    return missing;
}

int table_print(const struct samples *all, FILE *out) {
    int missing = 0;
    struct quartiles floor = samples_quartiles(all, 1, "one", "exe1", OF_REFERENCE);
    struct quartiles body = samples_quartiles(all, 1, "body_floor", "all", OF_DIFFERENCE);
    fprintf(out,
            "floor     %.2f ns [%.2f .. %.2f]: two clock reads and a store; ratios are to it\n",
            floor.median, floor.q1, floor.q3);
    fprintf(out, "          in the 100 ns body it costs %.2f ns [%.2f .. %.2f]\n", body.median,
            body.q1, body.q3);
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        fprintf(out, "\n%s\n  %-31s %10s %9s  %7s %-16s %12s\n", variants[v].title, "case", "must",
                "goal", "median", "[quartiles]", "");
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
            missing += row_print(all, &rows[i], variants[v].id, out);
        }
    }
    return missing + many_print(all, out) + !body.count;
}
