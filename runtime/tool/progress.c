/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/errno_keep.h"

static struct {
    const char *what;
    const struct sink *bytes;
    int shown;
} now;

static size_t put(char *line, size_t at, const char *text) {
    size_t length = strlen(text);
    memcpy(line + at, text, length);
    return at + length;
}

static size_t put_number(char *line, size_t at, uint64_t n) {
    char digits[20];
    size_t count = 0;
    do {
        digits[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (count) {
        line[at++] = digits[--count];
    }
    return at;
}

/* In a signal handler: on the thread that writes, which a second one would need locks for. */
static void show(int signal) {
    ERRNO_KEEP;
    char line[128];
    (void)signal;
    size_t at = put(line, 0, "\rstint: ");
    at = put(line, at, now.what);
    at = put(line, at, " … ");
    if (now.bytes) {
        at = put_number(line, at, now.bytes->written >> 20);
        at = put(line, at, " MiB ");
    }
    now.shown |= write(STDERR_FILENO, line, at) > 0;
}

static void timer(long seconds) {
    struct itimerval each = {{seconds, 0}, {seconds, 0}};
    setitimer(ITIMER_REAL, &each, NULL);
}

void progress_start(const char *what, const struct sink *bytes) {
    struct sigaction on = {.sa_handler = show, .sa_flags = SA_RESTART};
    if (isatty(STDERR_FILENO)) {
        now.what = what;
        now.bytes = bytes;
        sigemptyset(&on.sa_mask);
        sigaction(SIGALRM, &on, NULL);
        timer(1);
    }
}

void progress_stop(void) {
    static const char erase[] = "\r\x1b[K";
    timer(0);
    if (now.shown && write(STDERR_FILENO, erase, sizeof erase - 1) < 0) {
        return; /* the line stays */
    }
    now.shown = 0;
}
