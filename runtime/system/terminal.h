/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal at a descriptor, as the environment and ioctl describe it. Nothing is kept: each
 * call sees the terminal as it is then.
 */
#ifndef STINT_TERMINAL_H
#define STINT_TERMINAL_H

#include <stdint.h>

#define TERMINAL_COLUMNS_MIN 20u /* a narrower one is treated as one of that width */

/* COLUMNS if it is a number from 20 to 10000, else 0. */
uint32_t terminal_columns_given(void);
/* LINES if it is a number from 1 to 10000, else 0. */
uint32_t terminal_lines_given(void);
/* In characters; 0: not a terminal, or it does not say. */
uint32_t terminal_width(int fd);
uint32_t terminal_height(int fd);
/* COLUMNS, or else that width; also without a terminal: shells do not export COLUMNS, so the user
 * did. 0 without either. */
uint32_t terminal_columns(int fd);
/* Whether it is a terminal on which text may be bold: NO_COLOR and TERM=dumb say no. */
int terminal_has_colours(int fd);

#endif
