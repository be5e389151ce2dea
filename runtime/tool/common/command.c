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

#include "base/arithmetic.h"
#include "base/error_text.h"
#include "base/log.h"
#include "base/number.h"
#include "base/replace_file.h"
#include "base/terminal.h"
#include "base/write_all.h"
#include "tool_process.h"

int command_bad_usage(char **argv, const char *what) {
    log_error("%.20s: %s (stint %.20s --help)", argv[0], what, argv[0]);
    return COMMAND_BAD;
}

/* A reader that has gone, as in `stint report | head`, is not reported, unless the tool was started
 * with SIGPIPE ignored: the signal would end it without a line, too. */
static void refuse_write(int why) {
    if (why != EPIPE || tool_process_ignores(SIGPIPE)) {
        log_error("cannot write: %s", error_text(why));
    }
}

int command_print(const char *text) {
    if (fputs(text, stdout) == EOF || fflush(stdout)) {
        refuse_write(errno);
        return COMMAND_FAILED;
    }
    return COMMAND_GOOD;
}

int command_write(int fd, const char *bytes, size_t length) {
    if (write_all(fd, bytes, length, WRITE_WAIT_FOR_EVER) < length) {
        refuse_write(errno);
        return -1;
    }
    return 0;
}

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

/* COLUMNS takes precedence, also without a terminal: shells do not export it, so the user did. */
uint32_t command_width(int fd) {
    uint32_t width = terminal_columns_given();
    if (!width) {
        width = terminal_width(fd);
    }
    if (!width) {
        return 0;
    }
    return (uint32_t)u64_max(width, TERMINAL_COLUMNS_MIN);
}

void command_fit_report(struct report_options *o, enum option_color when, int fd) {
    o->width = command_width(fd);
    o->colour = command_colour(when, fd);
    o->bar = isatty(fd);
}

int command_take_interval(const char *text, double *out) {
    const char *rest = number_parse(text, out);
    if (!rest || (strcmp(rest, "") && strcmp(rest, "s"))) {
        return -1;
    }
    if (!(*out >= 0.1 && *out <= 3600)) {
        return -1;
    }
    return 0;
}
