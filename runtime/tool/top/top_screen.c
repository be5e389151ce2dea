/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The screen of `stint top`: the terminal in raw mode, what is shown on it, cut to its size, and
 * the wait for a key, a signal or the next reading. Called by cmd_top.c. Signal handlers only set
 * flags, which the wait looks at; the terminal is restored before the tool ends.
 */
#include "top.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "base/visible.h"
#include "system/terminal.h"
#include "tool/common/command.h"
#include "tool/common/tool_process.h"

#define ENTER "\x1b[?1049h\x1b[?25l"
#define LEAVE "\x1b[?25h\x1b[?1049l"
#define CONTROL_C 3
#define USUAL_COLUMNS 80 /* where neither the terminal nor the environment says it */
#define USUAL_LINES 24

static struct termios before;
static int taken;
static volatile sig_atomic_t ended;
static volatile sig_atomic_t noted; /* a signal, since the last look */

static void note_signal(int number) {
    if (number != SIGWINCH) {
        ended = 1;
    }
    noted = 1;
}

int top_screen_enter(int screen) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) {
        tool_process_catch(signals[i], note_signal);
    }
    if (!screen) {
        return 0;
    }
    if (tcgetattr(STDIN_FILENO, &before)) {
        return -1;
    }
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG); /* ^Z would stop the tool on this screen */
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw)) {
        return -1;
    }
    taken = 1;
    return command_write(ENTER, sizeof ENTER - 1);
}

void top_screen_leave(void) {
    if (taken) {
        taken = 0;
        command_write(LEAVE, sizeof LEAVE - 1);
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
}

struct top_screen_size top_screen_measure(void) {
    struct top_screen_size size = {terminal_width(STDOUT_FILENO), terminal_height(STDOUT_FILENO)};
    if (!size.width) {
        size.width = terminal_columns_given();
    }
    if (!size.height) {
        size.height = terminal_lines_given();
    }
    if (!size.width) {
        size.width = USUAL_COLUMNS;
    }
    if (!size.height) {
        size.height = USUAL_LINES;
    }
    return size;
}

/* As much of a line as fits; what is cut off may be the end of bold text. */
static void put_screen_line(struct text *t, const char *line, size_t length, uint32_t width) {
    size_t used = 0, at = 0, columns;
    while (at < length) {
        size_t n = visible_next(line + at, length - at, &columns);
        if (used + columns > width) {
            text_add(t, "\x1b[0m");
            break;
        }
        used += columns;
        at += n;
    }
    text_put(t, line, at);
}

int top_screen_show(const char *bytes, size_t length, const struct top_screen_size *size) {
    struct text t;
    uint32_t line = 0;
    text_start(&t);
    text_add(&t, "\x1b[H");
    for (size_t at = 0; at < length && line < size->height; ++line) {
        const char *newline = memchr(bytes + at, '\n', length - at);
        size_t n = length - at;
        if (newline) {
            n = (size_t)(newline - bytes) - at;
        }
        if (line) { /* none after the last one: a full screen would scroll */
            text_add(&t, "\r\n");
        }
        text_add(&t, "\x1b[K"); /* the rest of an older, longer one */
        put_screen_line(&t, bytes + at, n, size->width);
        at += n + 1;
    }
    if (line < size->height) {
        text_add(&t, "\r\n\x1b[J");
    }
    int failed = command_write(t.data, t.length);
    text_free(&t);
    return failed;
}

/* One at a time, so that each key of several is seen. */
static enum top_event read_key(int typing, char *key) {
    ssize_t n = read(STDIN_FILENO, key, 1);
    if (n == 0) { /* the terminal was closed */
        return TOP_END;
    }
    if (n < 0) {
        return TOP_TIME;
    }
    int quits = !typing && (*key == 'q' || *key == 'Q');
    if (quits || *key == CONTROL_C) {
        return TOP_END;
    }
    return TOP_KEY;
}

enum top_event top_screen_wait(double seconds, int typing, char *key) {
    double until = tool_process_seconds() + seconds, left = seconds;
    while (left > 0) {
        int resized = __atomic_exchange_n(&noted, 0, __ATOMIC_RELAXED);
        if (ended) {
            break;
        }
        if (taken && resized) {
            return TOP_RESIZED;
        }
        struct pollfd keys = {STDIN_FILENO, POLLIN, 0};
        int n = tool_process_wait(&keys, (nfds_t)taken, left, &noted);
        if (n > 0) {
            enum top_event event = read_key(typing, key);
            if (event != TOP_TIME) {
                return event;
            }
        }
        if (n < 0 && errno != EINTR) {
            return TOP_END;
        }
        left = until - tool_process_seconds();
    }
    return ended ? TOP_END : TOP_TIME;
}
