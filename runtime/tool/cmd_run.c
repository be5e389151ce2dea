/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A signal typed at the terminal reaches the program by itself, as it does the whole foreground
 *   group; one that was sent to us alone is handed on.
 * - Without --file the run goes to a folder of its own in memory, a file a process, so that
 *   whatever is there afterwards is of this run.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/log.h"
#include "command.h"
#include "run_files.h"
#include "run_open.h"
#include "run_view.h"

static const char help[] =
    "usage: stint run [OPTION]… [--] COMMAND [ARGUMENT]…\n"
    "Runs a program that was built with stint and prints its report, on stderr, when it ends,\n"
    "however it ends. The exit status is the program's; 128 + n when signal n ended it.\n\n"
    "  -f, --file FILE    where the run goes (%p: process id, %h: host); it stays there.\n"
    "                     Default: memory, until the report is printed\n"
    "  -r, --report VIEW  table (default), tree, legacy, threads, gpu or fluid, each with\n"
    "                     ,sort=KEY,top=N; or none\n"
    "  -t, --trace SIZE   keeps the newest events too: 64M; implies --keep\n"
    "  -k, --keep         the files stay\n"
    "      --color WHEN   auto, always, never\n"
    "      --help\n";

#define NOT_FOUND 127
#define NOT_RUN 126

struct arguments {
    const char *file;
    const char *trace;
    int keep;
    int silent;
    struct run_view view;
    enum command_colour colour;
};

/* ---- The program. */

static const int handed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
#define HANDED_ON (sizeof handed_on / sizeof *handed_on)

static volatile sig_atomic_t child;

static void hand_on(int number, siginfo_t *info, void *context) {
    ERRNO_KEEP;
    (void)context;
    if (child > 0 && info->si_code <= 0) { /* > 0: from the kernel, and not to us alone */
        kill((pid_t)child, number);
    }
}

/* Held back until there is somebody to hand them to. `fresh`: those that the program gets back. */
static void catch_signals(sigset_t *before, sigset_t *fresh) {
    struct sigaction on = {.sa_sigaction = hand_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t all;
    sigemptyset(&all);
    sigemptyset(fresh);
    sigemptyset(&on.sa_mask);
    for (size_t i = 0; i < HANDED_ON; ++i) {
        struct sigaction was;
        sigaddset(&all, handed_on[i]);
        if (!sigaction(handed_on[i], NULL, &was) && was.sa_handler != SIG_IGN) {
            sigaddset(fresh, handed_on[i]);
        }
    }
    sigprocmask(SIG_BLOCK, &all, before);
    for (size_t i = 0; i < HANDED_ON; ++i) {
        if (sigismember(fresh, handed_on[i])) {
            sigaction(handed_on[i], &on, NULL);
        }
    }
}

/* 0, or errno. */
static int spawn(char **argv) {
    sigset_t before, fresh;
    posix_spawnattr_t how;
    pid_t pid = 0;
    catch_signals(&before, &fresh);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &fresh);
    posix_spawnattr_setsigmask(&how, &before);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawnp(&pid, argv[0], NULL, &how, argv, environ);
    posix_spawnattr_destroy(&how);
    child = (sig_atomic_t)pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* The program's exit status as a shell gives it. */
static int run_program(char **argv) {
    int status, failed = spawn(argv);
    if (failed) {
        log_line("cannot run %.200s: %s", argv[0], strerror(failed));
        return failed == ENOENT ? NOT_FOUND : NOT_RUN;
    }
    while (waitpid((pid_t)child, &status, 0) < 0) {
        if (errno != EINTR) {
            log_line("%.200s: %s", argv[0], strerror(errno));
            return COMMAND_FAILED;
        }
    }
    if (WIFSIGNALED(status)) {
        log_line("%.200s: %s%s", argv[0], strsignal(WTERMSIG(status)),
                 WCOREDUMP(status) ? " (core dumped)" : "");
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

/* ---- Its runs. */

static void print_run(const char *path, const struct arguments *a) {
    struct run_view view = a->view;
    struct run r;
    struct text out;
    if (run_open_ended(&r, path)) {
        return;
    }
    view.options.width = command_width(STDERR_FILENO);
    view.options.colour = command_colour(a->colour, STDERR_FILENO);
    text_start(&out);
    if (!run_view_print(&out, &r, &view)) {
        command_write(STDERR_FILENO, out.data, out.length);
    }
    text_free(&out);
    command_warn(&r);
    run_close(&r);
}

static void print_line(const char *path, int kept) {
    char wall[TEXT_NUMBER], state[128];
    struct run r;
    uint64_t calls = 0;
    if (run_open(&r, path)) {
        return;
    }
    for (uint32_t i = 0; i < r.snapshot.node_count; ++i) {
        calls += r.snapshot.nodes[i].count + r.snapshot.nodes[i].recursions;
    }
    text_time(wall, r.snapshot.wall_ns, 3);
    run_view_state(state, sizeof state, &r);
    state[strcspn(state, ":")] = '\0';
    log_line("also recorded: %.60s, %s, %s wall, %llu calls%s%.300s", r.program, state, wall,
             (unsigned long long)calls, kept ? ", in " : "", kept ? path : "");
    run_close(&r);
}

/* In full the program's own, or the first of those that it started; a line for each other. */
static void print_runs(const struct run_files *files, const struct arguments *a, int kept) {
    size_t main_run = run_files_of(files, (uint32_t)child);
    if (!files->count) {
        log_line("nothing was recorded: no program was built with WITH_TIMER and stint, entered a "
                 "scope and could write a run file");
        return;
    }
    print_run(files->path[main_run], a);
    for (size_t i = 0; i < files->count; ++i) {
        if (i != main_run) {
            print_line(files->path[i], kept);
        }
    }
    if (kept) {
        log_line("the run is in %.500s", files->path[main_run]);
    } else if (files->count > 1) {
        log_line("--keep leaves the files of all %llu runs", (unsigned long long)files->count);
    }
}

static int run(char **argv, const struct arguments *a) {
    struct run_place place;
    struct run_files files;
    if (run_place_make(&place, a->file)) {
        return COMMAND_FAILED;
    }
    int kept = a->keep || a->file || a->trace;
    if (setenv("STINT_FILE", place.pattern, 1) ||
        (a->trace && setenv("STINT_TRACE", a->trace, 1))) {
        log_line("%s", strerror(errno));
        return COMMAND_FAILED;
    }
    int status = run_program(argv);
    int failed = run_files_list(&files, &place);
    if (child > 0 && !failed && !a->silent) {
        print_runs(&files, a, kept);
    }
    run_place_leave(&place, &files, kept && files.count);
    run_files_free(&files);
    return status;
}

static int parse_report(const char *text, struct arguments *a) {
    a->silent = !strcmp(text, "none");
    if (!a->silent && run_view_parse(text, &a->view)) {
        log_line("--report %.100s: expected none or " RUN_VIEW_FORM, text);
        return -1;
    }
    return 0;
}

static int parse_option(int c, struct arguments *a) {
    switch (c) {
    case 'f':
        a->file = optarg;
        return 0;
    case 't':
        a->trace = optarg;
        return 0;
    case 'k':
        a->keep = 1;
        return 0;
    case 'r':
        return parse_report(optarg, a);
    default:
        return command_colour_parse(optarg, &a->colour);
    }
}

int cmd_run(int argc, char **argv) {
    static const struct option options[] = {
        {"file", required_argument, NULL, 'f'},    {"report", required_argument, NULL, 'r'},
        {"trace", required_argument, NULL, 't'},   {"keep", no_argument, NULL, 'k'},
        {"color", required_argument, NULL, 'c'},   {"colour", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, COMMAND_HELP}, {NULL, 0, NULL, 0}};
    struct arguments a = {0};
    int c;
    run_view_parse("table", &a.view);
    while ((c = getopt_long(argc, argv, "+f:r:t:k", options, NULL)) != -1) {
        if (c == COMMAND_HELP) {
            return command_help(help);
        }
        if (c == '?') {
            return command_bad_option(argv);
        }
        if (parse_option(c, &a)) {
            return COMMAND_BAD;
        }
    }
    return optind == argc ? command_bad_usage(argv, "a command to run is missing")
                          : run(argv + optind, &a);
}
