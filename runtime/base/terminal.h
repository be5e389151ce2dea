/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for a terminal: names, paths and values of any bytes, without control sequences. Everything
 * that the library and the tool print for people goes through here.
 */
#ifndef STINT_TERMINAL_H
#define STINT_TERMINAL_H

#include <stddef.h>
#include <stdint.h>

#define TERMINAL_PIECE 8 /* bytes that one character becomes, at most */

/* Whether the environment's locale is UTF-8; otherwise only ASCII is shown as it is. */
int terminal_is_utf8(void);
/* The character at `bytes` as it may be printed: itself, or \n, \t, \\, \x1b for the first byte of
 * control characters (C0, C1, line separators, those that turn the writing direction), of broken
 * UTF-8 and, unless `utf8`, of all that is not ASCII. Returns the bytes taken; left > 0. */
size_t terminal_show(const char *bytes, size_t left, int utf8, char out[TERMINAL_PIECE],
                     size_t *length, size_t *columns);

/* The next piece of text that may have escape sequences of colours in it: one character, or one
 * sequence, which takes no columns. Returns its bytes; left > 0. */
size_t terminal_next(const char *bytes, size_t left, size_t *columns);

/* ---- What is known of the terminal at a descriptor. */

#define TERMINAL_COLUMNS_MIN 20u /* a narrower one is treated as one of that width */

/* COLUMNS if it is a number from 20 to 10000, else 0. */
uint32_t terminal_columns_given(void);
/* In characters; 0: not a terminal, or it does not say. */
uint32_t terminal_width(int fd);
uint32_t terminal_height(int fd);
/* COLUMNS, or else that width; also without a terminal: shells do not export COLUMNS, so the user
 * did. 0 without either. */
uint32_t terminal_columns(int fd);
/* Whether it is a terminal on which text may be bold: NO_COLOR and TERM=dumb say no. */
int terminal_has_colours(int fd);

#endif
