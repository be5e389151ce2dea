/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tool between its parent and the programs that it starts. main() calls tool_process_start
 * before anything else; cmd_run.c, run_side.c, needed.c and cmd_instrument.c start programs. Each
 * signal that the tool changes for itself must be in `used`, so that a program gets it back. All
 * descriptors of the tool are close-on-exec.
 */
#include "tool_process.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/write_all.h"

/* Signals that a command handles or waits for, or whose action tool_process_start sets. */
static const int used[] = {SIGALRM, SIGCHLD, SIGHUP,  SIGINT,   SIGPIPE, SIGQUIT,
                           SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGXFSZ};
#define USED (sizeof used / sizeof *used)

static sigset_t was_ignored, was_blocked;

static void set_action(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* O_PATH: such a descriptor can be neither read nor written (EBADF, as a closed one), and it needs
 * no /dev. */
static void open_standard_descriptors(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH | O_CLOEXEC) < 0) {
            return;
        }
    }
}

void tool_process_start(void) {
    sigset_t all;
    open_standard_descriptors();
    sigemptyset(&was_ignored);
    sigemptyset(&all);
    for (size_t i = 0; i < USED; ++i) {
        struct sigaction was;
        sigaddset(&all, used[i]);
        if (!sigaction(used[i], NULL, &was) && was.sa_handler == SIG_IGN) {
            sigaddset(&was_ignored, used[i]);
        }
    }
    set_action(SIGCHLD, SIG_DFL);
    set_action(SIGPIPE, SIG_IGN);
    set_action(SIGXFSZ, SIG_IGN);
    sigprocmask(SIG_UNBLOCK, &all, &was_blocked);
}

int tool_process_ignores(int number) {
    return sigismember(&was_ignored, number) == 1;
}

void tool_process_catch(int number, void (*handler)(int)) {
    if (!tool_process_ignores(number)) {
        set_action(number, handler);
    }
}

void tool_process_block(sigset_t *before) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, before);
}

double tool_process_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A signal between the look at the flag and the wait would be noticed when the time is over. */
int tool_process_wait(struct pollfd *fds, nfds_t count, double seconds,
                      const volatile sig_atomic_t *flag) {
    struct timespec t = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    sigset_t before;
    int ready = -1;
    tool_process_block(&before);
    errno = EINTR;
    if (!*flag) {
        ready = ppoll(fds, count, &t, &before);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}

/* ---- A started program. */

/* The caller has blocked all signals: no handler of the tool runs here. */
static void restore_signals(void) {
    for (size_t i = 0; i < USED; ++i) {
        set_action(used[i], tool_process_ignores(used[i]) ? SIG_IGN : SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &was_blocked, NULL);
}

/* ITIMER_REAL, ITIMER_VIRTUAL and ITIMER_PROF survive exec, but not fork. */
#define TIMERS 3

static void change_timers(const struct itimerval to[TIMERS], struct itimerval was[TIMERS]) {
    setitimer(ITIMER_REAL, &to[0], &was[0]);
    setitimer(ITIMER_VIRTUAL, &to[1], &was[1]);
    setitimer(ITIMER_PROF, &to[2], &was[2]);
}

/* In the child, with all signals blocked. Returns only if it cannot: errno. */
static int become_program(const char *file, char **argv, const struct tool_child *how,
                          const struct itimerval timer[TIMERS]) {
    if (how->leads_group) {
        setpgid(0, 0);
    }
    if (how->has_timers) {
        struct itimerval none[TIMERS];
        change_timers(timer, none);
    }
    for (int i = 0; i < 3; ++i) {
        if (how->fd[i] > 0 && dup2(how->fd[i], i) < 0) {
            return errno;
        }
    }
    restore_signals();
    execvp(file, argv);
    return errno;
}

/* posix_spawn cannot have a program ignore a signal: if the tool itself ignored SIGCHLD around the
 * call, the status of a program that ends at once would be lost. */
int tool_process_spawn(pid_t *pid, const char *file, char **argv, const struct tool_child *how) {
    struct itimerval timer[TIMERS];
    sigset_t before;
    int ends[2], why = 0;
    if (pipe2(ends, O_CLOEXEC)) {
        return errno;
    }
    if (how->has_timers) {
        static const struct itimerval none[TIMERS];
        change_timers(none, timer);
    }
    tool_process_block(&before);
    *pid = fork();
    if (*pid == 0) {
        why = become_program(file, argv, how, timer);
        write_all(ends[1], &why, sizeof why, WRITE_WAIT_FOR_EVER);
        _exit(1);
    }
    if (*pid < 0) {
        why = errno;
    } else if (how->leads_group) {
        setpgid(*pid, *pid); /* by the first of both, so that a signal to the group finds it */
    }
    close(ends[1]);
    /* The child has written why it could not become the program, or exec has closed the pipe. */
    if (!why && read(ends[0], &why, sizeof why) > 0) {
        waitpid(*pid, NULL, 0);
    }
    close(ends[0]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return why;
}

int tool_process_replace(const char *file, char **argv) {
    tool_process_block(NULL);
    restore_signals();
    execvp(file, argv);
    return errno;
}
