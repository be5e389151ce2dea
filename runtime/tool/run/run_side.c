/* SPDX-License-Identifier: Apache-2.0 */
#include "run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_S 5.0 /* from SIGTERM to SIGKILL */

static sigset_t before_block, waited_for;

void run_side_block(void) {
    sigemptyset(&waited_for);
    sigaddset(&waited_for, SIGCHLD);
    sigaddset(&waited_for, SIGHUP);
    sigaddset(&waited_for, SIGINT);
    sigaddset(&waited_for, SIGQUIT);
    sigaddset(&waited_for, SIGTERM);
    sigprocmask(SIG_BLOCK, &waited_for, &before_block);
}

static double read_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* 0, or errno. */
static int spawn_side(struct run_side *s) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, s->output, O_WRONLY | O_CREAT | O_TRUNC,
                                     0666);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&how);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &before_block);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    int failed = posix_spawnp(&s->pid, s->argv[0], &files, &how, s->argv, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return failed;
}

/* The first of these: the program ended (0), the time has come (-1), a signal to the tool. */
static int wait_side(pid_t pid, double until, int *status) {
    for (;;) {
        pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR)) {
            return 0;
        }
        double left = until - read_seconds();
        if (left <= 0) {
            return -1;
        }
        struct timespec wait = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
        int number = sigtimedwait(&waited_for, NULL, &wait);
        if (number > 0 && number != SIGCHLD) {
            return number;
        }
    }
}

/* Ends the program and what it started. */
static void end_side(pid_t pid, int gently) {
    int status;
    if (gently) {
        kill(-pid, SIGTERM);
        if (!wait_side(pid, read_seconds() + GRACE_S, &status)) {
            return;
        }
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
}

static void set_end(struct run_side *s, enum run_side_end end, int number) {
    s->end = end;
    s->number = number;
}

void run_side_start(struct run_side *s) {
    int status = 0, failed = spawn_side(s);
    if (failed) {
        set_end(s, RUN_SIDE_NOT_RUN, failed);
        return;
    }
    int why = wait_side(s->pid, read_seconds() + s->limit, &status);
    if (why > 0) {
        end_side(s->pid, 1);
        set_end(s, RUN_SIDE_STOPPED, why);
    } else if (why < 0) {
        end_side(s->pid, 0);
        set_end(s, RUN_SIDE_LATE, 0);
    } else if (WIFSIGNALED(status)) {
        set_end(s, RUN_SIDE_SIGNAL, WTERMSIG(status));
    } else if (WEXITSTATUS(status)) {
        set_end(s, RUN_SIDE_STATUS, WEXITSTATUS(status));
    } else {
        set_end(s, RUN_SIDE_GOOD, 0);
    }
}
