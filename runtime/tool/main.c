/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "command.h"
#include "stint/stint.h" /* off, but for its version */

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *line;
};

static const struct command commands[] = {
    {"report", cmd_report, "FILE…          where the time went, as text"},
    {"top", cmd_top, "FILE|PID       what a running program spends its time on, live"},
    {"run", cmd_run, "-- COMMAND…    runs a program and reports when it ends, however it ends"},
    {"export", cmd_export, "FILE --to …    for other programs: viewers, spreadsheets, monitoring"},
    {"merge", cmd_merge, "FILE… -o OUT   several runs as one: ranks, processes, days"},
    {"diff", cmd_diff, "A… -- B…       did it get slower?"},
    {"info", cmd_info, "FILE…          what a run file holds"},
};
#define COMMANDS (sizeof commands / sizeof *commands)

static int help(void) {
    printf("usage: stint COMMAND [OPTION]…\n"
           "Reads run files: a program built with stint writes one where STINT_FILE says.\n\n");
    for (size_t i = 0; i < COMMANDS; ++i) {
        printf("  %-7s %s\n", commands[i].name, commands[i].line);
    }
    printf(
        "\n  stint COMMAND --help   its options\n"
        "  stint --version        %s\n\n"
        "Exit status: 0 good, 1 it failed, 2 wrong usage or a file that cannot be read in full;\n"
        "of `run` that of the program. `man stint` has more.\n",
        STINT_VERSION);
    return command_help("");
}

static int run_command(int argc, char **argv) {
    for (size_t i = 0; i < COMMANDS; ++i) {
        if (!strcmp(argv[0], commands[i].name)) {
            optind = 0; /* getopt begins again, on the command's own arguments */
            return commands[i].run(argc, argv);
        }
    }
    log_line("there is no command %.100s (stint --help lists them)", argv[0]);
    return COMMAND_BAD;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"help", no_argument, NULL, COMMAND_HELP},
                                            {"version", no_argument, NULL, 'V'},
                                            {NULL, 0, NULL, 0}};
    int c;
    hash_seed_program();
    opterr = 0; /* one clear line of our own */
    while ((c = getopt_long(argc, argv, "+hV", options, NULL)) != -1) {
        switch (c) {
        case 'h':
        case COMMAND_HELP:
            return help();
        case 'V':
            printf("stint %s, run files of format %d\n", STINT_VERSION, STINT_ABI);
            return command_help("");
        default:
            log_line("%.200s: no such option (stint --help)", argv[optind - 1]);
            return COMMAND_BAD;
        }
    }
    if (optind == argc) {
        log_line("a command is missing (stint --help lists them)");
        return COMMAND_BAD;
    }
    return run_command(argc - optind, argv + optind);
}
