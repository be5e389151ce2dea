/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A line on stderr while a command reads or writes for more than a second. A timer's signal handler
 * prints it: a second thread would need locks around the counter that the writing thread changes.
 */
#include "command.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "base/print.h"

static struct {
    const char *what;
    const struct sink *bytes;
    int shown;
} now;

static void print_progress(int signal) {
    ERRNO_KEEP;
    char line[128];
    (void)signal;
    size_t at = print_text(line, sizeof line, "\rstint: %s … ", now.what);
    if (now.bytes) {
        at += print_text(line + at, sizeof line - at, "%llu MiB ",
                         (unsigned long long)(now.bytes->written >> 20));
    }
    now.shown |= write(STDERR_FILENO, line, at) > 0;
}

static void set_timer(long seconds) {
    struct itimerval each = {{seconds, 0}, {seconds, 0}};
    setitimer(ITIMER_REAL, &each, NULL);
}

void progress_start(const char *what, const struct sink *bytes) {
    struct sigaction on = {.sa_handler = print_progress, .sa_flags = SA_RESTART};
    struct itimerval inherited; /* as of alarm(2), which survives exec: it stays */
    getitimer(ITIMER_REAL, &inherited);
    if (isatty(STDERR_FILENO) && !inherited.it_value.tv_sec && !inherited.it_value.tv_usec) {
        now.what = what;
        now.bytes = bytes;
        sigemptyset(&on.sa_mask);
        sigaction(SIGALRM, &on, NULL);
        set_timer(1);
    }
}

void progress_stop(void) {
    static const char erase[] = "\r\x1b[K";
    if (now.what) {
        set_timer(0);
    }
    now.what = NULL;
    if (now.shown && write(STDERR_FILENO, erase, sizeof erase - 1) < 0) {
        return; /* the line stays */
    }
    now.shown = 0;
}
