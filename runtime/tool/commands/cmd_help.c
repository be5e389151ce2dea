/* SPDX-License-Identifier: Apache-2.0 */
#include "commands.h"

#include <getopt.h>

#include "system/log.h"
#include "tool/common/command.h"

int cmd_help(int argc, char **argv) {
    int status = options_parse(TOOL_HELP, argc, argv, NULL, NULL);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (optind == argc) {
        return options_print_tool_help();
    }
    if (argc - optind > 1) {
        return command_bad_usage(argv, "one command at a time");
    }
    const char *topic = argv[optind];
    status = options_print_topic(topic);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    enum command_id command = options_command_find(topic);
    if (command == TOOL_COMMANDS) {
        char hint[OPTIONS_HINT];
        options_command_hint(hint, topic, 1);
        log_error("help: unknown command %.100s%s (stint --help lists them)", topic, hint);
        return COMMAND_BAD;
    }
    return options_print_help(command);
}
