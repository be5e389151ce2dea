/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/write_all.h"

int command_bad_usage(char **argv, const char *what) {
    log_line("%.20s: %s (stint %.20s --help)", argv[0], what, argv[0]);
    return COMMAND_BAD;
}

int command_print(const char *text) {
    if (fputs(text, stdout) == EOF || fflush(stdout)) {
        log_line("cannot write: %s", strerror(errno));
        return COMMAND_FAILED;
    }
    return COMMAND_GOOD;
}

int command_write(int fd, const char *bytes, size_t length) {
    if (write_all(fd, bytes, length, WRITE_WAIT_FOR_EVER) < length) {
        log_line("cannot write: %s", strerror(errno));
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

static uint32_t from_environment(const char *name) {
    const char *text = getenv(name);
    char *end = NULL;
    unsigned long n = text && *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;
    return end && !*end && n >= 20 && n <= 10000 ? (uint32_t)n : 0;
}

/* COLUMNS decides, also where there is no terminal; shells do not export it, people do. */
uint32_t command_width(int fd) {
    struct winsize size;
    uint32_t told = from_environment("COLUMNS");
    if (told) {
        return told;
    }
    return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 20 ? size.ws_col : 0;
}

uint32_t command_height(int fd) {
    struct winsize size;
    uint32_t told = from_environment("LINES");
    if (told) {
        return told;
    }
    return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_row >= 5 ? size.ws_row : 24;
}
