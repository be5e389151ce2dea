/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command run: starts a program with STINT_FILE set, waits for its end, and prints the reports
 * of the run files that it and the processes it started have written.
 * - A signal typed at the terminal reaches the program directly, as it does the whole foreground
 *   group; one that was sent to the tool alone is forwarded.
 * - Without --file and STINT_FILE the runs are written to a new folder in memory, one file per
 *   process, so that all files there are of this run.
 * - Variables of the environment hold as they do without the tool, and options come before them.
 */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/error_text.h"
#include "base/number.h"
#include "export/tool/formats.h"
#include "runfile/run_open.h"
#include "system/config.h"
#include "system/log.h"
#include "system/output.h"
#include "system/replace_file.h"
#include "tool/common/command.h"
#include "tool/common/run_inputs.h"
#include "tool/common/run_space.h"
#include "tool/common/run_view.h"
#include "tool/common/tool_process.h"
#include "tool/run/run_files.h"

#define SUFFIX ".stint"
#define NOT_FOUND 127
#define NOT_RUN 126

struct arguments {
    const char *file;
    const char *trace;
    const char *html;
    const char *label;
    const char *mpi; /* "": the program's; NULL: not asked for */
    uint32_t repeat; /* 0 = once, without a number in the file's name */
    int keep;
    int memory;
    int silent;
    uint32_t ranges; /* interfaces, as run_ranges_parse has them */
    struct run_view view;
    enum option_color colour;
};

/* ---- The program. */

static const int forwarded[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static volatile sig_atomic_t child;

static void forward_signal(int number, siginfo_t *info, void *context) {
    ERRNO_KEEP;
    (void)context;
    if (child > 0 && info->si_code <= 0) { /* > 0: from the kernel, to the whole foreground group */
        kill((pid_t)child, number);
    }
}

/* Blocks the signals until the program runs, and forwards them from then on. 0, or errno. */
static int spawn_program(char **argv) {
    static const struct tool_child how = {.has_timers = 1};
    struct sigaction on = {.sa_sigaction = forward_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t before;
    pid_t pid = 0;
    tool_process_block(&before);
    sigemptyset(&on.sa_mask);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; ++i) {
        if (!tool_process_ignores(forwarded[i])) {
            sigaction(forwarded[i], &on, NULL);
        }
    }
    int failed = tool_process_spawn(&pid, argv[0], argv, &how);
    child = failed ? 0 : (sig_atomic_t)pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* The program's exit status, as a shell returns it. */
static int run_program(char **argv) {
    int status, failed = spawn_program(argv);
    if (failed) {
        log_error("cannot run %.200s: %s", argv[0], error_text(failed));
        return failed == ENOENT ? NOT_FOUND : NOT_RUN;
    }
    if (waitpid((pid_t)child, &status, 0) < 0) { /* the handlers do not interrupt it */
        log_error("%.200s: %s", argv[0], error_text(errno));
        return COMMAND_FAILED;
    }
    if (WIFSIGNALED(status)) {
        const char *core = WCOREDUMP(status) ? " (core dumped)" : "";
        log_error("%.200s: %s%s", argv[0], strsignal(WTERMSIG(status)), core);
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

/* ---- Its runs. */

static u128 count_calls(const struct run *r) {
    u128 calls = 0;
    for (uint32_t i = 0; i < r->snapshot.node_count; ++i) {
        calls += (u128)r->snapshot.nodes[i].count + r->snapshot.nodes[i].recursions;
    }
    return calls;
}

static u128 count_calls_of_file(const char *path) {
    struct run r;
    if (run_open_ended(&r, path)) {
        return 0;
    }
    u128 calls = count_calls(&r);
    run_close(&r);
    return calls;
}

size_t cmd_run_find_main(const struct run_files *files, pid_t pid) {
    size_t found = run_files_of(files, (uint32_t)pid);
    if (files->count < 2 || count_calls_of_file(files->path[found])) {
        return found;
    }
    u128 most = 0;
    for (size_t i = 0; i < files->count; ++i) {
        u128 calls = count_calls_of_file(files->path[i]);
        if (calls > most) {
            most = calls;
            found = i;
        }
    }
    return found;
}

/* As the program's own report, if it goes to STINT_OUTPUT: a file has all columns. */
static void fit_report(struct report_options *o, enum option_color when) {
    struct output_terminal to;
    command_fit_report(o, when, STDERR_FILENO);
    if (config.output) {
        output_find_terminal(&to);
        o->width = to.width;
        o->bar = to.found;
        o->colour = when == OPTION_COLOR_AUTO ? to.colour : o->colour;
    }
}

static void print_run(const char *path, const struct arguments *a) {
    struct run_view view = a->view;
    struct run r;
    struct text out;
    if (run_open_ended(&r, path)) {
        return;
    }
    fit_report(&view.options, a->colour);
    text_start(&out);
    if (!run_view_print(&out, &r, &view)) {
        output_set_process((pid_t)r.pid);
        output_write(out.data, out.length);
    }
    text_free(&out);
    command_warn(&r);
    run_close(&r);
}

static int write_page(struct sink *out, void *run) {
    return export_html(out, run);
}

/* The exit status, after one line if it is not 0. */
static int write_html(const struct run_files *files, const char *output) {
    struct run r;
    if (!files->count || run_open_ended(&r, files->path[cmd_run_find_main(files, (pid_t)child)])) {
        return COMMAND_FAILED;
    }
    int status = export_target_write(output, REPLACE_NAMED, write_page, &r, r.path);
    run_close(&r);
    return status;
}

static void print_line(const char *path, int kept) {
    char wall[TEXT_NUMBER], state[128], place[320] = "";
    struct run r;
    if (run_open(&r, path)) {
        return;
    }
    u128 calls = count_calls(&r);
    const char *bound = r.at_least ? "at least " : "";
    text_time(wall, r.snapshot.wall_ns, CONFIG_UNIT_AUTO);
    run_view_state(state, sizeof state, &r);
    state[strcspn(state, ":")] = '\0';
    if (kept) {
        snprintf(place, sizeof place, ", in %.300s", path);
    }
    log_note("also recorded: %.60s, %s, %s%s wall, %s call%s%s", r.program, state, bound, wall,
             number_whole(calls).text, text_plural(calls), place);
    run_close(&r);
}

static const char *why_nothing(const struct arguments *a) {
    if (a->mpi) {
        return "the program has no scope of stint, and no call of MPI was seen (those of a static "
               "library are not)";
    }
    return a->ranges ? "the program has no scope of stint and makes no range (or no run file could "
                       "be written)"
                     : "compile with -DWITH_TIMER and link with stint (or no scope was entered, or "
                       "no run file could be written)";
}

/* The report of one run (cmd_run_find_main), and one line for each other run. */
static void print_runs(const struct run_files *files, const struct arguments *a, int kept) {
    if (!files->count) {
        log_error("nothing recorded: %s", why_nothing(a));
        return;
    }
    size_t main_run = cmd_run_find_main(files, (pid_t)child);
    print_run(files->path[main_run], a);
    for (size_t i = 0; i < files->count; ++i) {
        if (i != main_run) {
            print_line(files->path[i], kept);
        }
    }
    if (kept) {
        log_error("the run is in %.500s", files->path[main_run]);
    } else if (files->count > 1) {
        log_error("--keep leaves the files of all %llu runs", (unsigned long long)files->count);
    }
}

/* One run of a series: where it is. */
static void print_run_number(const struct run_files *files, uint32_t number, uint32_t of) {
    char wall[TEXT_NUMBER];
    struct run r;
    if (!files->count || run_open_ended(&r, files->path[cmd_run_find_main(files, (pid_t)child)])) {
        return;
    }
    text_time(wall, r.snapshot.wall_ns, CONFIG_UNIT_AUTO);
    log_error("run %u of %u: %s wall, in %.500s", number, of, wall, r.path);
    run_close(&r);
}

/* Prints the ranges of all processes together. */
static void print_ranges(const struct run_files *files, uint32_t wanted) {
    u128 count[RANGE_INTERFACES] = {0};
    struct measure_list list = measure_list_of(MEASURE_GROUP_RANGES);
    for (size_t i = 0; i < files->count; ++i) {
        struct run r;
        struct measure_sums sum;
        if (run_open_ended(&r, files->path[i])) {
            continue;
        }
        snapshot_outside(&r.snapshot, &sum);
        for (uint32_t k = 0; k < RANGE_INTERFACES; ++k) {
            count[k] += sum.measure[list.number[k]];
        }
        run_close(&r);
    }
    run_ranges_say(wanted, count);
}

/* Prints and writes the reports of the runs after the program has ended. The exit status, after one
 * line if it is not 0. */
static int report_runs(const struct run_files *files, const struct arguments *a, uint32_t number,
                       int kept) {
    if (a->repeat && files->count) {
        print_run_number(files, number, a->repeat);
    }
    if (number < a->repeat) {
        return 0;
    }
    if (!a->silent || (a->html && !files->count)) {
        print_runs(files, a, kept);
    }
    if (a->ranges && files->count) {
        print_ranges(files, a->ranges);
    }
    if (a->html) {
        return write_html(files, a->html);
    }
    return 0;
}

/* number: of a series, from 1; 0 = there is one run. */
static int run_and_report(char **argv, const struct arguments *a, const char *file,
                          uint32_t number) {
    struct run_place place;
    struct run_files files;
    if (run_place_make(&place, file)) {
        return COMMAND_FAILED;
    }
    int kept = a->keep || file || a->trace;
    if (command_set_variable("run", "STINT_FILE", place.pattern) ||
        (a->label && command_set_variable("run", "STINT_LABEL", a->label)) ||
        (a->trace && command_set_variable("run", "STINT_TRACE", a->trace))) {
        return COMMAND_FAILED;
    }
    int status = run_program(argv);
    int failed = run_files_list(&files, &place);
    int reported = 0;
    if (child > 0 && !failed) {
        reported = report_runs(&files, a, number, kept);
    }
    if (!status) {
        status = reported; /* the program did not fail, but the page is not there */
    }
    for (size_t i = 0; kept && !failed && i < files.count; ++i) {
        run_space_give_back(files.path[i]);
    }
    run_place_leave(&place, &files, kept && files.count);
    run_files_free(&files);
    return status;
}

/* "a.stint" is "a-3.stint", and "a" is "a-3". 0, or -1 after one line. */
static int number_file(char out[PATH_MAX], const char *file, uint32_t number) {
    const char *end = name_ends_in(file, SUFFIX) ? SUFFIX : "";
    int length = (int)(strlen(file) - strlen(end));
    int n = snprintf(out, PATH_MAX, "%.*s-%u%s", length, file, number, end);
    if (n < 0 || n >= PATH_MAX) {
        log_error("%.500s: %s", file, error_text(ENAMETOOLONG));
        return -1;
    }
    return 0;
}

/* Ends with the first run that fails: its times are not comparable. */
static int run_series(char **argv, const struct arguments *a) {
    int status = 0;
    for (uint32_t number = 1; number <= a->repeat && !status; ++number) {
        char file[PATH_MAX];
        if (number_file(file, a->file, number)) {
            return COMMAND_FAILED;
        }
        status = run_and_report(argv, a, file, number);
        if (status && number < a->repeat) {
            log_error("run %u of %u: exit status %d; the others are not run", number, a->repeat,
                      status);
        }
    }
    return status;
}

/* NULL if it is not set, or empty, which is the same. */
static const char *read_variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* list: NULL is the list of STINT_RANGES, or else all. */
static int take_ranges(struct arguments *a, const char *list) {
    const char *given = list ? list : read_variable("STINT_RANGES");
    uint32_t wanted = run_ranges_parse(given);
    if (!wanted && !list) {
        log_warning("run: STINT_RANGES=%.200s: expected a list of interfaces; all are recorded",
                    given);
        wanted = run_ranges_parse(NULL);
    }
    a->ranges |= wanted;
    return wanted ? 0 : -1;
}

/* Takes the variables that the tool would replace. The program itself reads the others. */
static void take_environment(struct arguments *a) {
    const char *report = read_variable("STINT_REPORT"), *trace = read_variable("STINT_TRACE");
    if (!a->file) {
        a->file = read_variable("STINT_FILE");
    }
    if (trace && strcmp(trace, "0")) {
        a->keep = 1; /* as --trace */
    }
    if (!report || !strcmp(report, "none")) {
        config.output = read_variable("STINT_OUTPUT"); /* else it has the program's own report */
    }
}

static int take_run_option(void *to, const struct option_value *value) {
    struct arguments *a = to;
    switch (value->id) {
    case OPTION_FILE:
        a->file = value->text;
        return 0;
    case OPTION_REPORT:
        a->silent = !strcmp(value->text, "none");
        return a->silent ? 0 : run_view_parse(value->text, &a->view);
    case OPTION_TRACE:
        a->trace = value->text;
        return 0;
    case OPTION_NVTX:
        a->ranges |= 1u << RANGE_NVTX;
        return 0;
    case OPTION_RANGES:
        return take_ranges(a, value->text);
    case OPTION_MPI:
        a->mpi = value->text ? value->text : "";
        return 0;
    case OPTION_HTML:
        a->html = value->text;
        return 0;
    case OPTION_LABEL:
        a->label = value->text;
        return 0;
    case OPTION_REPEAT:
        a->repeat = (uint32_t)value->number;
        return 0;
    case OPTION_MEM:
        a->memory = 1;
        return 0;
    case OPTION_KEEP:
        a->keep = 1;
        return 0;
    case OPTION_COLOR:
        a->colour = (enum option_color)value->number;
        return 0;
    default:
        return -1;
    }
}

int cmd_run(int argc, char **argv) {
    struct arguments a = {0};
    run_view_parse("table", &a.view);
    int status = options_parse(TOOL_RUN, argc, argv, take_run_option, &a);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return command_bad_usage(argv, "a command to run is missing");
    }
    take_environment(&a);
    if (a.ranges & 1u << RANGE_OMPT) {
        run_ranges_check(argv[optind]);
    }
    if (a.ranges && run_ranges_set(a.ranges)) {
        return COMMAND_FAILED;
    }
    if (a.mpi && run_mpi_set(*a.mpi ? a.mpi : NULL, argv + optind)) {
        return COMMAND_FAILED;
    }
    if (a.memory &&
        (command_set_variable("run", "STINT_MEM", "1") || run_library_preload("stint-mem"))) {
        return COMMAND_FAILED;
    }
    if (!a.repeat) {
        return run_and_report(argv + optind, &a, a.file, 0);
    }
    if (!a.file) {
        return command_bad_usage(argv, "--repeat needs --file FILE or STINT_FILE");
    }
    return run_series(argv + optind, &a);
}
