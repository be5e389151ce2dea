/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint diff A… -- B…: did it get slower?
 */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/filter.h"
#include "base/log.h"
#include "base/number.h"
#include "command.h"
#include "diff.h"
#include "diff_show.h"

static const char help[] =
    "usage: stint diff [OPTION]… A… -- B…\n"
    "       stint diff [OPTION]… A B\n"
    "Compares runs: for each name SLOWER, FASTER, SAME or UNSURE. Three runs a side or more tell\n"
    "how far runs differ without a change; with fewer, only large changes are called.\n\n"
    "  -m, --metric M           time: a call's (default); total, self, avg, p50, p99, max, calls,\n"
    "                           bytes, gpu\n"
    "  -t, --threshold PERCENT  smaller changes do not count; default 2\n"
    "  -x, --fail-on slower[:PERCENT]\n"
    "                           exit status 1 if anything is SLOWER, or SLOWER by that much\n"
    "  -n, --top N              the first N rows, worst first\n"
    "  -f, --filter GLOBS       only names that match: 'a*,-ab*'; the last that matches decides\n"
    "      --format FORMAT      text (default) or markdown\n"
    "      --raw                does not make up for machines of different speed\n"
    "      --help\n";

struct request {
    struct diff_options o;
    uint32_t top;
    int markdown;
    double fail; /* a slowdown from which the exit status is 1, 0.05 = 5 %; < 0: none */
    char **path[2];
    int paths[2];
};

static const struct {
    const char *name;
    enum diff_metric metric;
} metrics[] = {
    {"time", DIFF_TIME},   {"total", DIFF_TOTAL}, {"self", DIFF_SELF}, {"avg", DIFF_AVG},
    {"p50", DIFF_P50},     {"p99", DIFF_P99},     {"max", DIFF_MAX},   {"calls", DIFF_CALLS},
    {"bytes", DIFF_BYTES}, {"gpu", DIFF_GPU},
};

static int bad(const char *option, const char *value, const char *wanted) {
    log_line("%s %.100s: expected %s", option, value, wanted);
    return -1;
}

static int read_metric(const char *text, enum diff_metric *out) {
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; ++i) {
        if (!strcmp(text, metrics[i].name)) {
            *out = metrics[i].metric;
            return 0;
        }
    }
    return bad("--metric", text, "time, total, self, avg, p50, p99, max, calls, bytes or gpu");
}

/* Percent, to a share. -1 without a line. */
static int read_percent(const char *text, double *out) {
    double v = 0;
    const char *end = number_parse(text, &v);
    if (!end || v > 1e6 || (*end && strcmp(end, "%"))) {
        return -1;
    }
    *out = v / 100;
    return 0;
}

static int read_fail(const char *text, double *out) {
    *out = 0;
    if (strncmp(text, "slower", 6) || (text[6] && text[6] != ':') ||
        (text[6] && read_percent(text + 7, out))) {
        return bad("--fail-on", text, "slower or slower:PERCENT");
    }
    return 0;
}

static int read_top(const char *text, uint32_t *out) {
    uint64_t top;
    if (command_number("--top", text, 1, 100000000, &top)) {
        return -1;
    }
    *out = (uint32_t)top;
    return 0;
}

static int read_format(const char *text, int *out) {
    *out = !strcmp(text, "markdown");
    return *out || !strcmp(text, "text") ? 0 : bad("--format", text, "text or markdown");
}

static int read_option(struct request *r, int option, const char *value) {
    switch (option) {
    case 'm':
        return read_metric(value, &r->o.metric);
    case 't':
        return read_percent(value, &r->o.threshold) ? bad("--threshold", value, "a percentage") : 0;
    case 'x':
        return read_fail(value, &r->fail);
    case 'n':
        return read_top(value, &r->top);
    case 'f':
        return filter_set(value) ? bad("--filter", value, "glob,-glob,... (at most 64)") : 0;
    case 'F':
        return read_format(value, &r->markdown);
    default:
        r->o.raw = 1;
        return 0;
    }
}

/* The options of one side, and the files that are left. -1: go on; else the exit status. */
static int read_side(struct request *r, int side, int argc, char **argv) {
    static const struct option options[] = {{"metric", required_argument, NULL, 'm'},
                                            {"threshold", required_argument, NULL, 't'},
                                            {"fail-on", required_argument, NULL, 'x'},
                                            {"top", required_argument, NULL, 'n'},
                                            {"filter", required_argument, NULL, 'f'},
                                            {"format", required_argument, NULL, 'F'},
                                            {"raw", no_argument, NULL, COMMAND_OPTION},
                                            {"help", no_argument, NULL, COMMAND_HELP},
                                            {NULL, 0, NULL, 0}};
    int c;
    optind = 0; /* each side from its beginning */
    while ((c = getopt_long(argc, argv, "m:t:x:n:f:", options, NULL)) != -1) {
        if (c == COMMAND_HELP) {
            return command_help(help);
        }
        if (c == '?') {
            return command_bad_option(argv);
        }
        if (read_option(r, c, optarg)) {
            return COMMAND_BAD;
        }
    }
    r->path[side] = argv + optind;
    r->paths[side] = argc - optind;
    return -1;
}

static int find_dashes(int argc, char **argv) {
    int at = 1;
    while (at < argc && strcmp(argv[at], "--")) {
        ++at;
    }
    return at;
}

/* -1: go on; else the exit status. */
static int read_request(struct request *r, int argc, char **argv) {
    int middle = find_dashes(argc, argv);
    char *name = argv[0];
    memset(r, 0, sizeof *r);
    r->o.threshold = 0.02;
    r->fail = -1;
    int status = read_side(r, 0, middle, argv);
    if (status < 0 && middle < argc) {
        argv[middle] = name; /* the second side as a command line of its own */
        status = read_side(r, 1, argc - middle, argv + middle);
    } else if (status < 0 && r->paths[0] == 2) {
        r->path[1] = r->path[0] + 1;
        r->paths[0] = r->paths[1] = 1;
    }
    if (status >= 0) {
        return status;
    }
    if (!r->paths[0] || !r->paths[1]) {
        return command_bad_usage(argv, "runs on both sides are needed: A... -- B..., or two files");
    }
    return r->paths[0] > (int)DIFF_RUNS || r->paths[1] > (int)DIFF_RUNS
               ? command_bad_usage(argv, "too many runs on a side, 1024 are the most")
               : -1;
}

/* COMMAND_BAD: there is something wrong with one; -1: which cannot be read at all. */
static int read_runs(struct diff *d, const struct request *r) {
    int status = COMMAND_GOOD;
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < r->paths[side]; ++i) {
            int one = diff_read(d, side, (uint32_t)i, r->path[side][i]);
            if (one < 0) {
                return -1;
            }
            status = one ? COMMAND_BAD : status;
        }
    }
    return status;
}

static int is_failure(const struct diff *d, const struct request *r) {
    for (uint32_t i = 0; i < d->rows && r->fail >= 0; ++i) {
        if (d->row[i].verdict == DIFF_SLOWER && d->row[i].change.log >= log1p(r->fail)) {
            return 1;
        }
    }
    return 0;
}

static int print(struct diff *d, const struct request *r) {
    struct text out;
    text_start(&out);
    diff_show(d, &r->o, r->top, r->markdown, &out);
    int status = COMMAND_BAD;
    if (out.failed) {
        log_line("diff: not enough memory");
    } else if (!command_write(STDOUT_FILENO, out.data, out.length)) {
        status = is_failure(d, r) ? COMMAND_FAILED : COMMAND_GOOD;
    }
    text_free(&out);
    return status;
}

int cmd_diff(int argc, char **argv) {
    struct request r;
    struct diff d;
    int status = read_request(&r, argc, argv);
    if (status >= 0) {
        return status;
    }
    if (diff_start(&d, (uint32_t)r.paths[0], (uint32_t)r.paths[1])) {
        log_line("diff: not enough memory");
        return COMMAND_BAD;
    }
    status = read_runs(&d, &r);
    if (status >= 0 && diff_judge(&d, &r.o)) {
        log_line("diff: not enough memory");
        status = -1;
    }
    if (status >= 0) {
        int printed = print(&d, &r);
        status = printed > status ? printed : status;
    }
    diff_end(&d);
    return status < 0 ? COMMAND_BAD : status;
}
