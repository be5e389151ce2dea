/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command diff: reads its two command lines, reads the runs of both sides, and prints what
 * diff.c finds. The second side's options are added to the first side's.
 */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/number.h"
#include "system/filter.h"
#include "system/log.h"
#include "tool/common/command.h"
#include "tool/diff/diff.h"

struct request {
    struct diff_options o;
    uint32_t top;
    enum option_format format;
    char **path[2];
    int paths[2];
};

_Static_assert((int)OPTION_METRIC_TIME == (int)DIFF_TIME && (int)OPTION_METRIC_GPU == (int)DIFF_GPU,
               "enum diff_metric is in the order of --metric");

/* A percentage, as a share. What follows, or NULL. */
static const char *take_percentage(const char *text, double *out) {
    double percent = 0;
    const char *end = number_parse(text, &percent);
    if (!end || percent > 1e6) {
        return NULL;
    }
    *out = percent / 100;
    return end + (*end == '%');
}

static int take_percent(const char *text, double *out) {
    const char *end = take_percentage(text, out);
    return end && !*end ? 0 : -1;
}

int cmd_diff_take_fail(const char *text, struct diff_fail *out) {
    static const char *const words[] = {"slower", "wall", "new", "gone"};
    static const unsigned count = sizeof words / sizeof *words;
    for (;; ++text) {
        size_t length = strcspn(text, ":,");
        unsigned i = 0;
        while (i < count && (strncmp(words[i], text, length) || words[i][length])) {
            ++i;
        }
        if (i == count) {
            return -1;
        }
        out->on |= 1u << i;
        text += length;
        if (*text == ':') {
            text = i < 2 ? take_percentage(text + 1, &out->least[i]) : NULL;
        }
        if (!text || (*text && *text != ',')) {
            return -1;
        }
        if (!*text) {
            return 0;
        }
    }
}

static int take_diff_option(void *to, const struct option_value *value) {
    struct request *r = to;
    switch (value->id) {
    case OPTION_METRIC:
        r->o.metric = (enum diff_metric)value->number;
        return 0;
    case OPTION_THRESHOLD:
        return take_percent(value->text, &r->o.threshold);
    case OPTION_FAIL_ON:
        return cmd_diff_take_fail(value->text, &r->o.fail);
    case OPTION_TOP:
        r->top = (uint32_t)value->number;
        return 0;
    case OPTION_FILTER:
        r->o.filtered = 1;
        return filter_set(value->text);
    case OPTION_FORMAT:
        r->format = (enum option_format)value->number;
        return 0;
    case OPTION_RAW:
        r->o.raw = 1;
        return 0;
    default:
        return -1;
    }
}

/* The options of one side, and the files that are left. OPTIONS_TAKEN, or the exit status. */
static int read_side(struct request *r, int side, int argc, char **argv) {
    int status = options_parse(TOOL_DIFF, argc, argv, take_diff_option, r);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    r->path[side] = argv + optind;
    r->paths[side] = argc - optind;
    return OPTIONS_TAKEN;
}

static int find_dashes(int argc, char **argv) {
    int at = 1;
    while (at < argc && strcmp(argv[at], "--")) {
        ++at;
    }
    return at;
}

/* OPTIONS_TAKEN, or the exit status. */
static int read_request(struct request *r, int argc, char **argv) {
    int middle = find_dashes(argc, argv);
    char *name = argv[0];
    memset(r, 0, sizeof *r);
    r->o.threshold = 0.02;
    int status = read_side(r, 0, middle, argv);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (middle < argc) {
        argv[middle] = name; /* the second side as a command line of its own */
        status = read_side(r, 1, argc - middle, argv + middle);
        if (status != OPTIONS_TAKEN) {
            return status;
        }
    } else if (r->paths[0] == 2) {
        r->path[1] = r->path[0] + 1;
        r->paths[0] = r->paths[1] = 1;
    }
    if (!r->paths[0] || !r->paths[1]) {
        return command_bad_usage(argv, "runs on both sides are needed: A... -- B..., or two files");
    }
    if (r->paths[0] > (int)DIFF_RUNS || r->paths[1] > (int)DIFF_RUNS) {
        return command_bad_usage(argv, "at most 1024 runs on a side");
    }
    return OPTIONS_TAKEN;
}

/* COMMAND_BAD if one cannot be read completely, -1 if one cannot be read at all. */
static int read_runs(struct diff *d, const struct request *r) {
    int status = COMMAND_GOOD;
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < r->paths[side]; ++i) {
            int one = diff_read(d, side, (uint32_t)i, r->path[side][i]);
            if (one < 0) {
                return -1;
            }
            if (one) {
                status = COMMAND_BAD;
            }
        }
    }
    return status;
}

static int write_diff(const struct diff *d, const struct diff_options *o, enum option_format format,
                      uint32_t top) {
    static struct sink sink; /* 64 KiB */
    sink_start(&sink, STDOUT_FILENO);
    diff_write(d, o, format, top, &sink);
    if (sink_close(&sink)) {
        log_error("cannot write: %s", error_text(errno));
        return COMMAND_FAILED;
    }
    return COMMAND_GOOD;
}

int cmd_diff_print(struct diff *d, const struct diff_options *o, enum option_format format,
                   uint32_t top) {
    struct text out;
    if (o->fail.on && !d->rows) {
        log_error("%s: " DIFF_NOTHING, o->paired ? "ab" : "diff");
    }
    if (format != OPTION_FORMAT_TEXT && format != OPTION_FORMAT_MARKDOWN) {
        return write_diff(d, o, format, top);
    }
    text_start(&out);
    diff_show(d, o, top, format == OPTION_FORMAT_MARKDOWN, &out);
    int failed = out.failed;
    if (failed) {
        log_error("diff: not enough memory");
    } else {
        failed = command_write(out.data, out.length);
    }
    text_free(&out);
    return failed ? COMMAND_BAD : COMMAND_GOOD;
}

static int print_diff(struct diff *d, const struct request *r) {
    int status = cmd_diff_print(d, &r->o, r->format, r->top);
    if (status != COMMAND_GOOD) {
        return status;
    }
    return diff_fails(d, &r->o) ? COMMAND_FAILED : COMMAND_GOOD;
}

static int compare_runs(struct diff *d, const struct request *r) {
    int status = read_runs(d, r);
    if (status < 0) {
        return COMMAND_BAD;
    }
    if (diff_judge(d, &r->o)) {
        return command_lack_memory("diff", COMMAND_BAD);
    }
    return command_worse(status, print_diff(d, r));
}

int cmd_diff(int argc, char **argv) {
    struct request r;
    struct diff d;
    int status = read_request(&r, argc, argv);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (diff_start(&d, (uint32_t)r.paths[0], (uint32_t)r.paths[1])) {
        return command_lack_memory("diff", COMMAND_BAD);
    }
    status = compare_runs(&d, &r);
    diff_end(&d);
    return status;
}
