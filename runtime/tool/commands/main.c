/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "stint/stint.h" /* off, but for its version */
#include "system/config.h"
#include "system/log.h"
#include "tool/common/command.h"
#include "tool/common/tool_process.h"

typedef int command_function(int argc, char **argv);

/* --version, the only option of the tool itself besides --help. */
static int take_version(void *wanted, const struct option_value *value) {
    (void)value;
    *(int *)wanted = 1;
    return 0;
}

static int print_version(void) {
    printf("stint %s, run files of format %u\n", STINT_VERSION, ARENA_FORMAT);
    return command_print("");
}

/* The command version. */
static int run_version(int argc, char **argv) {
    int status = options_parse(TOOL_VERSION, argc, argv, NULL, NULL);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind < argc) {
        return command_bad_usage(argv, "takes no argument");
    }
    return print_version();
}

static command_function *const functions[TOOL_COMMANDS] = {
    [TOOL_REPORT] = cmd_report,
    [TOOL_TOP] = cmd_top,
    [TOOL_RUN] = cmd_run,
    [TOOL_EXPORT] = cmd_export,
    [TOOL_MERGE] = cmd_merge,
    [TOOL_DIFF] = cmd_diff,
    [TOOL_AB] = cmd_ab,
    [TOOL_INFO] = cmd_info,
    [TOOL_INSTRUMENT] = cmd_instrument,
    [TOOL_ANNOTATE] = cmd_annotate,
    [TOOL_HELP] = cmd_help,
    [TOOL_VERSION] = run_version,
};

static int run_command(int argc, char **argv) {
    enum command_id command = options_command_find(argv[0]);
    if (command == TOOL_COMMANDS) {
        char hint[OPTIONS_HINT];
        options_command_hint(hint, argv[0], 0);
        log_error("unknown command %.100s%s (stint --help lists them)", argv[0], hint);
        return COMMAND_BAD;
    }
    return functions[command](argc, argv);
}

/* STINT_UNIT is the unit of reports, also of those that the tool prints. An option comes first. */
static void take_unit(void) {
    const char *name = getenv("STINT_UNIT");
    for (int unit = 0; name && unit < CONFIG_UNITS; ++unit) {
        if (!strcmp(name, text_unit_name(unit))) {
            config.unit = unit;
        }
    }
}

int main(int argc, char **argv) {
    int version = 0;
    tool_process_start();
    hash_seed_program();
    take_unit();
    int status = options_parse_tool(argc, argv, take_version, &version);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (version) {
        return print_version();
    }
    if (optind >= argc) { /* > : argv is empty, which old kernels allow */
        log_error("a command is missing (stint --help lists them)");
        return COMMAND_BAD;
    }
    return run_command(argc - optind, argv + optind);
}
