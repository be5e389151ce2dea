/* SPDX-License-Identifier: Apache-2.0 */
#include "terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "base/errno_keep.h"
#include "base/number.h"

#define SIZE_MOST 10000u /* of COLUMNS and LINES */

static uint32_t read_size_variable(const char *name, uint64_t least) {
    const char *text = getenv(name);
    uint64_t size = 0;
    if (!text || number_read_whole(text, least, SIZE_MOST, &size)) {
        return 0;
    }
    return (uint32_t)size;
}

uint32_t terminal_columns_given(void) {
    return read_size_variable("COLUMNS", TERMINAL_COLUMNS_MIN);
}

uint32_t terminal_lines_given(void) {
    return read_size_variable("LINES", 1);
}

static struct winsize read_window(int fd) {
    ERRNO_KEEP;
    struct winsize size;
    memset(&size, 0, sizeof size);
    if (ioctl(fd, TIOCGWINSZ, &size)) {
        memset(&size, 0, sizeof size);
    }
    return size;
}

uint32_t terminal_width(int fd) {
    return read_window(fd).ws_col;
}

uint32_t terminal_columns(int fd) {
    uint32_t columns = terminal_columns_given();
    if (!columns) {
        columns = terminal_width(fd);
    }
    return columns ? (uint32_t)u64_max(columns, TERMINAL_COLUMNS_MIN) : 0;
}

uint32_t terminal_height(int fd) {
    return read_window(fd).ws_row;
}

int terminal_has_colours(int fd) {
    ERRNO_KEEP;
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    if ((no && *no) || (term && !strcmp(term, "dumb"))) {
        return 0;
    }
    return isatty(fd);
}
