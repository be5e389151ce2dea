/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command instrument: checks its options and runs the Python program of that name, which is
 * installed in share/stint/instrument beside the folder of the tool.
 */
#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "system/log.h"
#include "tool/common/command.h"
#include "tool/common/tool_process.h"

#define SCRIPT "/share/stint/instrument/instrument.py"

/* Makes the path of the script from the path of the tool, PREFIX/bin/stint. 0, or -1 after one
 * line. */
static int script_find(char path[PATH_MAX]) {
    char *end;
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof SCRIPT);
    if (length < 0) {
        log_error("instrument: /proc/self/exe: %s", error_text(errno));
        return -1;
    }
    path[length] = '\0';
    for (int i = 0; i < 2; ++i) {
        end = strrchr(path, '/');
        if (end) {
            *end = '\0';
        }
    }
    memcpy(path + strlen(path), SCRIPT, sizeof SCRIPT);
    if (access(path, R_OK)) {
        log_error("instrument: %.400s: %s; it is installed with the tool", path, error_text(errno));
        return -1;
    }
    return 0;
}

/* A shell has put the names of files in place of an unquoted glob: they are between the options and
 * the -- before the command. Returns the first one, or NULL. */
static const char *stray_word(int argc, char **argv) {
    if (optind == argc || strcmp(argv[optind - 1], "--") == 0) {
        return NULL;
    }
    for (int i = optind; i < argc; ++i) {
        if (strcmp(argv[i], "--") == 0) {
            return argv[optind];
        }
    }
    return NULL;
}

/* All values are checked by the script, but that there are functions. */
static int take_instrument_option(void *to, const struct option_value *value) {
    if (value->id == OPTION_FUNCTIONS) {
        *(int *)to = 1;
    }
    return 0;
}

int cmd_instrument(int argc, char **argv) {
    /* The environment is the build's, which may be for another Python; and without site, it starts
     * in half the time. */
    char script[PATH_MAX], python[] = "python3", isolated[] = "-sES", dashes[] = "--";
    int has_functions = 0, count = 0;
    int status = options_parse(TOOL_INSTRUMENT, argc, argv, take_instrument_option, &has_functions);
    if (status != OPTIONS_TAKEN) {
        return status;
    }
    if (!has_functions) {
        return command_bad_usage(argv, "--functions is missing");
    }
    if (optind == argc) {
        return command_bad_usage(argv, "the command of a compiler is missing");
    }
    const char *stray = stray_word(argc, argv);
    if (stray) {
        log_error("instrument: '%.200s': expected an option or --; a shell puts file names in "
                  "place of an unquoted *: write --functions '*'",
                  stray);
        return COMMAND_BAD;
    }
    if (script_find(script)) {
        return COMMAND_FAILED;
    }
    char **command = calloc((size_t)argc + 5, sizeof *command);
    if (!command) {
        return command_lack_memory("instrument", COMMAND_FAILED);
    }
    command[count++] = python;
    command[count++] = isolated;
    command[count++] = script;
    for (int i = 1; i < optind; ++i) {
        if (i + 1 < optind || strcmp(argv[i], "--") != 0) {
            command[count++] = argv[i];
        }
    }
    command[count++] = dashes;
    for (int i = optind; i < argc; ++i) {
        command[count++] = argv[i];
    }
    int why = tool_process_replace(python, command);
    log_error("instrument: cannot run %s: %s", python, error_text(why));
    free(command);
    return COMMAND_FAILED;
}
