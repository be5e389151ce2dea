/* SPDX-License-Identifier: Apache-2.0 */
#include "top.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "command.h"

#define ENTER "\x1b[?1049h\x1b[?25l"
#define LEAVE "\x1b[?25h\x1b[?1049l"
#define CONTROL_C 3

static struct termios before;
static int taken;
static volatile sig_atomic_t ended;

static void note_end(int number) {
    (void)number;
    ended = 1;
}

static void watch_end_signals(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction on = {.sa_handler = note_end}; /* no SA_RESTART: poll returns */
    sigemptyset(&on.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; ++i) {
        sigaction(ends[i], &on, NULL);
    }
}

int top_screen_enter(int screen) {
    watch_end_signals();
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
    return command_write(STDOUT_FILENO, ENTER, sizeof ENTER - 1);
}

void top_screen_leave(void) {
    if (taken) {
        taken = 0;
        command_write(STDOUT_FILENO, LEAVE, sizeof LEAVE - 1);
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
}

int top_screen_show(const char *bytes, size_t length) {
    struct text t;
    text_start(&t);
    text_add(&t, "\x1b[H");
    for (size_t at = 0; at < length;) { /* each line erases the rest of an older, longer one */
        const char *newline = memchr(bytes + at, '\n', length - at);
        size_t n = length - at;
        if (newline) {
            n = (size_t)(newline - bytes) - at;
        }
        text_put(&t, bytes + at, n);
        text_add(&t, "\x1b[K\r\n");
        at += n + 1;
    }
    text_add(&t, "\x1b[J");
    int failed = command_write(STDOUT_FILENO, t.data, t.length);
    text_free(&t);
    return failed;
}

static double read_monotonic_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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
    double until = read_monotonic_s() + seconds, left = seconds;
    while (!ended && left > 0) {
        struct pollfd keys = {STDIN_FILENO, POLLIN, 0};
        int n = poll(&keys, (nfds_t)taken, (int)(left * 1000) + 1);
        if (n > 0) {
            enum top_event event = read_key(typing, key);
            if (event != TOP_TIME) {
                return event;
            }
        }
        if (n < 0 && errno != EINTR) {
            return TOP_END;
        }
        left = until - read_monotonic_s();
    }
    return ended ? TOP_END : TOP_TIME;
}
