/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the commands of the tool share: messages about wrong usage, output, and the size
 * and colours of the terminal.
 */
#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/number.h"
#include "base/write_all.h"
#include "system/log.h"
#include "system/replace_file.h"
#include "system/terminal.h"
#include "tool_process.h"

int command_bad_usage(char **argv, const char *what) {
    log_error("%.20s: %s (stint %.20s --help)", argv[0], what, argv[0]);
    return COMMAND_BAD;
}

int command_set_variable(const char *command, const char *name, const char *value) {
    if (setenv(name, value, 1)) {
        log_error("%s: cannot set the environment: %s", command, error_text(errno));
        return -1;
    }
    return 0;
}

int command_lack_memory(const char *command, int status) {
    log_error("%s: not enough memory", command);
    return status;
}

int command_print(const char *text) {
    if (fputs(text, stdout) == EOF || fflush(stdout)) {
        return command_refuse_output(NULL, error_text(errno));
    }
    return COMMAND_GOOD;
}

int command_write(const char *bytes, size_t length) {
    if (write_all(STDOUT_FILENO, bytes, length, WRITE_WAIT_FOR_EVER) < length) {
        command_refuse_output(NULL, error_text(errno));
        return -1;
    }
    return 0;
}

/* A reader that has gone, as in `stint report | head`, is not reported, unless the tool was started
 * with SIGPIPE ignored: the signal would end it without a line, too. */
int command_refuse_output(const char *path, const char *why) {
    const char *name = "to standard output";
    if (path && strcmp(path, "-")) {
        name = path;
    }
    if (strcmp(why, error_text(EPIPE)) || tool_process_ignores(SIGPIPE)) {
        log_error("cannot write %.500s: %s", name, why);
    }
    return strcmp(why, REPLACE_FILE_RUN) ? COMMAND_FAILED : COMMAND_BAD;
}

int command_warn(const struct run *r) {
    if (!*r->warning) {
        return COMMAND_GOOD;
    }
    log_error("%.500s: %s", r->path, r->warning);
    return COMMAND_BAD;
}

int command_colour(enum option_color when, int fd) {
    if (when != OPTION_COLOR_AUTO) {
        return when == OPTION_COLOR_ALWAYS;
    }
    return terminal_has_colours(fd);
}

void command_fit_report(struct report_options *o, enum option_color when, int fd) {
    o->width = terminal_columns(fd);
    o->colour = command_colour(when, fd);
    o->bar = isatty(fd);
}

int command_take_time(const char *text, double *out) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
                 {"ns", 1e-9}, {"m", 60}, {"h", 3600}};
    double number = 0;
    const char *unit = number_parse(text, &number);
    for (size_t i = 0; unit && i < sizeof units / sizeof *units; ++i) {
        if (!strcmp(unit, units[i].name)) {
            *out = number * units[i].seconds;
            return 0;
        }
    }
    return -1;
}

int command_take_interval(const char *text, double *out) {
    const char *rest = number_parse(text, out);
    if (!rest || (strcmp(rest, "") && strcmp(rest, "s"))) {
        return -1;
    }
    return *out >= 0.1 && *out <= 3600 ? 0 : -1;
}
