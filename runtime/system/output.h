/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where reports go: STINT_OUTPUT, in one write.
 */
#ifndef STINT_OUTPUT_H
#define STINT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 0, or -1 after one line on stderr. The first report of the process replaces a file, later ones
 * are added to it. */
int output_write(const char *bytes, size_t length);
/* STINT_OUTPUT's pattern filled in: %p process id, %h host, %r rank, %% a percent sign. 0, or -1
 * for another % or a result that does not fit. */
int output_path(char *out, size_t size, const char *pattern);
/* Sets the process whose number replaces %p. For the tool, whose own is another one. */
void output_set_process(pid_t pid);

/* Whether all processes of a job write to one place, as STINT_OUTPUT has neither %r nor %p. */
int output_is_shared(void);

/* The terminal that reports are written to. */
struct output_terminal {
    uint32_t width; /* columns; 0: not a terminal, or it does not say */
    int found;      /* it is a terminal, */
    int colour;     /* on which text may be bold */
};
void output_find_terminal(struct output_terminal *out);

#endif
