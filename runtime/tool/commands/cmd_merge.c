/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command merge: lists the files, and adds their runs one by one, the one that began first
 * first: the merged file counts in its clock.
 */
#include "commands.h"

#include <getopt.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "base/text.h"
#include "runfile/run_open.h"
#include "system/log.h"
#include "tool/common/command.h"
#include "tool/common/run_space.h"
#include "tool/merge/merge.h"

/* Room that any merge has. */
#define SPARE ((uint64_t)1 << 30)
/* The bytes that a run file can refer to. */
#define BYTES_MOST ((uint64_t)UINT32_MAX * STINT_IMPL_UNIT)

struct merge_arguments {
    const char *out;
    enum merge_keep keep;
    int last_start;
    struct merge_align *align; /* NULL: all clocks are one, or times of day do */
};

/* Reads the traces of all runs, before they are merged. -1 after one line. */
static int align_runs(struct merge_align *align, struct run_inputs *in, const uint32_t *order) {
    int failed = 0;
    for (uint32_t i = 0; i < in->count && !failed; ++i) {
        struct run_input *input = &in->input[order[i]];
        struct run r;
        if (input->is_helper) { /* its calls are none of those that ranks meet in */
            continue;
        }
        int refused = run_inputs_open(in, &r, input->path);
        if (refused == RUN_SHORTAGE) {
            return -1;
        }
        if (refused) {
            input->path = NULL; /* it was named, and is left out */
            continue;
        }
        failed = merge_align_add(align, &r);
        run_close(&r);
    }
    if (failed || merge_align_solve(align)) {
        return command_lack_memory("merge", -1);
    }
    return 0;
}

/* The largest file that the merge of these may become. It is not memory until it is used, but it is
 * addresses: half of those that a limit of the process grants, as the runs need the rest. */
static uint64_t largest_result(const struct run_inputs *in) {
    uint64_t bytes = saturating_add(merge_inputs_bytes(in), SPARE);
    bytes = saturating_add(bytes, merge_inputs_growth(in));
    struct rlimit limit;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY) {
        bytes = u64_min(bytes, limit.rlim_cur / 2);
    }
    return u64_min(bytes, BYTES_MOST);
}

/* Adds a run to a merge, which begins with the first one. -1 after one line: the merge fails. */
static int add_run(struct merge *m, int *started, struct run_inputs *in,
                   const struct merge_arguments *a, const char *path) {
    struct run r;
    if (!path) {
        return 0;
    }
    int failed = run_inputs_open(in, &r, path);
    if (failed) {
        return failed == RUN_SHORTAGE ? -1 : 0;
    }
    if (!*started) {
        failed = merge_start(m, a->out, in->count, largest_result(in), &r, a->keep);
        m->align = a->align;
        *started = 1;
    }
    failed = failed || merge_add(m, &r);
    run_close(&r);
    if (!failed) {
        run_space_give_back(path);
    }
    return failed;
}

static int add_runs(struct merge *m, int *started, struct run_inputs *in,
                    const struct merge_arguments *a) {
    const uint32_t *order = run_inputs_by_start(in);
    if (!order) {
        return command_lack_memory("merge", -1);
    }
    if (a->align && align_runs(a->align, in, order)) {
        return -1;
    }
    for (uint32_t i = 0; i < in->count; ++i) {
        if (add_run(m, started, in, a, in->input[order[i]].path)) {
            return -1;
        }
    }
    return 0;
}

static int merge_inputs(struct run_inputs *in, const struct merge_arguments *a) {
    static struct merge m; /* 33 KiB, and the stack may be small */
    int started = 0;
    int failed = add_runs(&m, &started, in, a) || (started && merge_finish(&m));
    if (started) {
        merge_end(&m);
    }
    if (failed) {
        return COMMAND_BAD;
    }
    if (!started) {
        log_error("merge: no run file to merge; nothing was merged");
        return COMMAND_BAD;
    }
    if (in->left_out) {
        log_error("merge: %u file%s left out; the others were merged into %.500s", in->left_out,
                  text_plural(in->left_out), a->out);
        return COMMAND_BAD;
    }
    return COMMAND_GOOD;
}

/* The clocks of hosts matter where traces are kept. */
static int merge_with_clocks(struct run_inputs *in, struct merge_arguments *a) {
    struct merge_align align;
    if (a->keep != MERGE_KEEP_THREADS || !merge_inputs_several_clocks(in)) {
        return merge_inputs(in, a);
    }
    if (merge_align_start(&align)) {
        return command_lack_memory("merge", COMMAND_BAD);
    }
    a->align = &align;
    int status = merge_inputs(in, a);
    merge_align_end(&align);
    return status;
}

static int take_merge_option(void *to, const struct option_value *value) {
    struct merge_arguments *a = to;
    switch (value->id) {
    case OPTION_OUTPUT:
        a->out = value->text;
        return 0;
    case OPTION_KEEP:
        a->keep = (enum merge_keep)value->number; /* in the order of options.ini */
        return 0;
    case OPTION_START:
        a->last_start = (int)value->number; /* in the order of options.ini */
        return 0;
    default:
        return -1;
    }
}

int cmd_merge(int argc, char **argv) {
    struct merge_arguments a = {.keep = MERGE_KEEP_NAMES};
    struct run_inputs in;
    int status = options_parse(TOOL_MERGE, argc, argv, take_merge_option, &a);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "run files are missing");
    }
    if (!a.out || !*a.out) {
        return command_bad_usage(argv, "-o OUT is missing");
    }
    if (!strcmp(a.out, "-") && isatty(STDOUT_FILENO)) {
        return command_bad_usage(argv, "a run file is not text: give -o FILE or a pipe");
    }
    status = COMMAND_BAD;
    if (!run_inputs_take(&in, "merge", a.out, argc - optind, argv + optind) &&
        !merge_inputs_know(&in, a.last_start)) {
        status = merge_with_clocks(&in, &a);
    }
    run_inputs_free(&in);
    return status;
}
