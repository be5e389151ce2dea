/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of the tool share: messages about wrong usage, output, and the size and colours
 * of the terminal.
 */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/log.h"
#include "base/number.h"
#include "base/write_all.h"

int command_bad_usage(char **argv, const char *what) {
    log_line("%.20s: %s (stint %.20s --help)", argv[0], what, argv[0]);
    return COMMAND_BAD;
}

int command_print(const char *text) {
    if (fputs(text, stdout) == EOF || fflush(stdout)) {
        log_line("cannot write: %s", error_text(errno));
        return COMMAND_FAILED;
    }
    return COMMAND_GOOD;
}

int command_write(int fd, const char *bytes, size_t length) {
    if (write_all(fd, bytes, length, WRITE_WAIT_FOR_EVER) < length) {
        log_line("cannot write: %s", error_text(errno));
        return -1;
    }
    return 0;
}

int command_warn(const struct run *r) {
    if (!*r->warning) {
        return COMMAND_GOOD;
    }
    log_line("%.500s: %s", r->path, r->warning);
    return COMMAND_BAD;
}

int command_colour(enum option_color when, int fd) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != OPTION_COLOR_AUTO) {
        return when == OPTION_COLOR_ALWAYS;
    }
    if ((no && *no) || (term && !strcmp(term, "dumb"))) {
        return 0;
    }
    return isatty(fd);
}

/* 0 without a number from 20 to 10000. */
static uint32_t read_size_variable(const char *name) {
    const char *text = getenv(name);
    uint64_t size = 0;
    if (!text || number_read_whole(text, 20, 10000, &size)) {
        return 0;
    }
    return (uint32_t)size;
}

/* COLUMNS takes precedence, also without a terminal: shells do not export it, so the user did. */
uint32_t command_width(int fd) {
    struct winsize size;
    uint32_t given = read_size_variable("COLUMNS");
    if (given) {
        return given;
    }
    if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_col < 20) {
        return 0;
    }
    return size.ws_col;
}

uint32_t command_height(int fd) {
    struct winsize size;
    uint32_t given = read_size_variable("LINES");
    if (given) {
        return given;
    }
    if (ioctl(fd, TIOCGWINSZ, &size) || size.ws_row < 5) {
        return 24;
    }
    return size.ws_row;
}
