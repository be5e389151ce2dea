/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that a process inherits from its parent: what the tool sets for itself, and what it
 * gives the programs that it starts, which is what they would have without it.
 */
#ifndef STINT_TOOL_PROCESS_H
#define STINT_TOOL_PROCESS_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

/* Sets what the tool needs, first in main():
 * - SIGCHLD has its default action: where it is ignored, waitpid returns no status;
 * - SIGPIPE and SIGXFSZ are ignored: both are errors of write;
 * - signals that a command waits for are unblocked;
 * - descriptors 0 to 2 are open, so that no file gets their numbers. Those that were closed cannot
 *   be read or written, as before.
 * The umask and the limits stay as they are. */
void tool_process_start(void);

/* Whether the tool was started with the signal ignored, as by nohup and by a shell's `&`: then it
 * is not waited for. */
int tool_process_ignores(int number);
/* Installs a handler, which interrupts calls of the system, unless the tool was started with the
 * signal ignored. */
void tool_process_catch(int number, void (*handler)(int));
/* Blocks all signals; before: what was blocked, or NULL. */
void tool_process_block(sigset_t *before);
double tool_process_seconds(void); /* CLOCK_MONOTONIC */
/* As poll, for seconds, unless a handler has set the flag, however shortly before: -1 and EINTR. */
int tool_process_wait(struct pollfd *fds, nfds_t count, double seconds,
                      const volatile sig_atomic_t *flag);

struct tool_child {
    /* The program's stdin, stdout and stderr, above 2; 0: what the tool was started with. */
    int fd[3];
    int leads_group; /* it has a process group of its own */
    int has_timers;  /* it has the timers that the tool was started with, as of alarm(2) */
};

/* Starts `file`, searched for in PATH as by execvp, with the signals and descriptors that the tool
 * was started with. 0, or errno, also from exec. */
int tool_process_spawn(pid_t *pid, const char *file, char **argv, const struct tool_child *how);

/* Executes `file` in place of the tool, as tool_process_spawn. Returns errno if it cannot. */
int tool_process_replace(const char *file, char **argv);

#endif
