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

#define COLUMNS_MAX 10000u /* of COLUMNS */

uint32_t terminal_columns_given(void) {
    const char *text = getenv("COLUMNS");
    uint64_t columns = 0;
    if (!text || number_read_whole(text, TERMINAL_COLUMNS_MIN, COLUMNS_MAX, &columns)) {
        return 0;
    }
    return (uint32_t)columns;
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
