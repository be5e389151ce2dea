/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the programs of `stint ab`, one at a time.
 * - The program's process group is killed after its end and before it is reaped: until then no
 *   other group has its number.
 * - The tool is the subreaper of what has left the group: such a process becomes a child of the
 *   tool when its parent ends, and /proc names it. This does not hold if the tool had children when
 *   it was started (a shell with jobs may exec it). Processes that a service starts for the program
 *   are not found, processes of another user are not killed.
 * - The output goes through a pipe, so the disk has no part in the run, and its length no limit.
 *   The first and the last bytes are in memory until the caller wants a file.
 */
#include "run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "system/read_beginning.h"
#include "tool/common/tool_process.h"

#define GRACE_S 5.0          /* from SIGTERM to SIGKILL, and from SIGKILL to the end */
#define LEAVING_S 0.1        /* for what ends with the program, such as `> >(tee log)` of bash */
#define PIPE_BYTES (1 << 20) /* so that a program seldom waits for the tool */
#define KEPT 65536u          /* bytes of the beginning, and of the end */

static int is_reaper;
static int signals = -1; /* a signalfd */
static int nothing = -1; /* /dev/null */

/* The run. */
static struct {
    pid_t pid;
    int output; /* the pipe's end; -1 = all is read */
    int stop;   /* the first signal to the tool; 0 = none */
    uint64_t printed;
    char kept[2 * KEPT]; /* byte n of the output: at n, or at KEPT + n % KEPT */
} now;

int run_side_block(void) {
    static const int stops[] = {SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
    siginfo_t child;
    sigset_t all;
    sigemptyset(&all);
    sigaddset(&all, SIGCHLD);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; ++i) {
        if (!tool_process_ignores(stops[i])) { /* a blocked signal would be seen all the same */
            sigaddset(&all, stops[i]);
        }
    }
    sigprocmask(SIG_BLOCK, &all, NULL);
    is_reaper = waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) < 0 &&
                !prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    signals = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
    nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return signals < 0 || nothing < 0 ? errno : 0;
}

/* 0, or errno. */
static int spawn_side(const struct run_side *s) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) {
        return errno;
    }
    fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct tool_child how = {.fd = {nothing, ends[1], ends[1]}, .leads_group = 1};
    int why = tool_process_spawn(&now.pid, s->argv[0], s->argv, &how);
    now.output = ends[0];
    close(ends[1]);
    return why;
}

static void close_output(void) {
    if (now.output >= 0) {
        close(now.output);
    }
    now.output = -1;
}

/* Takes a piece of the output. 0: there is none at present. */
static int take_output(void) {
    size_t at = now.printed % KEPT;
    size_t from = now.printed < KEPT ? 0 : KEPT;
    ssize_t got = now.output < 0 ? -1 : read(now.output, now.kept + from + at, KEPT - at);
    if (got == 0) { /* all its writers have gone: poll would not wait any more */
        close_output();
    }
    now.printed += got > 0 ? (uint64_t)got : 0;
    return got > 0;
}

/* Waits for output, which it takes, for the end of a process, or a signal to the tool: its number.
 * -1: the time has come. */
static int wait_event(double until) {
    struct pollfd from[] = {{.fd = signals, .events = POLLIN},
                            {.fd = now.output, .events = POLLIN}};
    struct signalfd_siginfo got;
    double left = until - tool_process_seconds();
    if (left <= 0) {
        return -1;
    }
    poll(from, 2, left < 1 ? (int)(left * 1000) + 1 : 1000);
    take_output();
    while (read(signals, &got, sizeof got) == (ssize_t)sizeof got) {
        if (got.ssi_signo != SIGCHLD) {
            now.stop = now.stop ? now.stop : (int)got.ssi_signo;
            return (int)got.ssi_signo;
        }
    }
    return 0;
}

/* Whether the program has ended; it is not reaped. Orphans of it that have ended are. */
static int has_ended(void) {
    siginfo_t ended = {.si_pid = 0};
    while (!waitid(is_reaper ? P_ALL : P_PID, (id_t)now.pid, &ended, WEXITED | WNOHANG | WNOWAIT) &&
           ended.si_pid && ended.si_pid != now.pid) {
        waitpid(ended.si_pid, NULL, WNOHANG);
        ended.si_pid = 0;
    }
    return ended.si_pid == now.pid;
}

/* The first of these: the program ended (0), the time has come (-1), a signal to the tool. */
static int wait_side(double seconds) {
    double until = tool_process_seconds() + seconds;
    int why = 0;
    while (!why && !has_ended()) {
        why = wait_event(until);
    }
    return why;
}

/* Sends the signal (0: none) to the orphans, and notes those that SIGKILL has ended. Returns how
 * many there are still. */
static unsigned signal_orphans(struct run_side *s, int number) {
    char list[4096] = "", path[64];
    const char *at = list, *end;
    unsigned running = 0;
    uint64_t child;
    if (is_reaper) {
        read_beginning("/proc/thread-self/children", list, sizeof list);
    }
    for (; (end = number_parse_whole(at, INT_MAX, &child)) && *end == ' '; at = end + 1) {
        pid_t pid = (pid_t)child;
        int status;
        if (pid == now.pid) {
            continue;
        }
        if (!s->left) {
            snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
            read_beginning(path, s->left_name, sizeof s->left_name);
        }
        if (waitpid(pid, &status, WNOHANG) != pid) {
            running += !kill(pid, number);
        } else if (number == SIGKILL && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
            ++s->left;
        }
    }
    return running;
}

/* Ends what is left, and the program if it has not ended. Returns its status. */
static int kill_side(struct run_side *s) {
    int status = 0;
    kill(-now.pid, SIGKILL);
    waitpid(now.pid, &status, 0);
    double until = tool_process_seconds() + GRACE_S;
    while (signal_orphans(s, SIGKILL) && wait_event(until) >= 0) {
    }
    return status;
}

static void set_end(struct run_side *s, enum run_side_end end, int number) {
    s->end = end;
    s->number = number;
}

static void copy_output(struct text *out) {
    size_t at = now.printed % KEPT;
    text_free(out);
    text_start(out);
    if (now.printed <= sizeof now.kept) {
        text_put(out, now.kept, now.printed);
    } else {
        text_put(out, now.kept, KEPT);
        text_add(out, "\n... %llu bytes left out ...\n",
                 (unsigned long long)(now.printed - sizeof now.kept));
        text_put(out, now.kept + KEPT + at, KEPT - at);
        text_put(out, now.kept + KEPT, at);
    }
    text_add(out, "%s", ""); /* a NUL after it */
}

void run_side_start(struct run_side *s) {
    now.output = -1;
    now.printed = 0;
    now.stop = 0;
    s->left = 0;
    int failed = spawn_side(s);
    if (failed) {
        set_end(s, RUN_SIDE_NOT_RUN, failed);
        close_output();
        return;
    }
    s->pid = now.pid;
    int why = wait_side(s->limit);
    if (why > 0) {
        kill(-now.pid, SIGTERM);
        signal_orphans(s, SIGTERM);
        wait_side(GRACE_S);
    }
    double until = tool_process_seconds() + LEAVING_S;
    while (why >= 0 && signal_orphans(s, 0) && !wait_event(until)) {
    }
    int status = kill_side(s);
    if (now.stop) {
        set_end(s, RUN_SIDE_STOPPED, now.stop);
    } else if (why < 0) {
        set_end(s, RUN_SIDE_LATE, 0);
    } else if (WIFSIGNALED(status)) {
        set_end(s, RUN_SIDE_SIGNAL, WTERMSIG(status));
    } else if (WEXITSTATUS(status)) {
        set_end(s, RUN_SIDE_STATUS, WEXITSTATUS(status));
    } else {
        set_end(s, RUN_SIDE_GOOD, 0);
    }
    for (int i = 0; i < PIPE_BYTES / (int)KEPT && take_output(); ++i) {
    }
    close_output();
    copy_output(&s->printed);
}
