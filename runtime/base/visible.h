/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for a terminal: names, paths and values of any bytes, without control sequences. Everything
 * that the library and the tool print for people goes through here.
 */
#ifndef STINT_VISIBLE_H
#define STINT_VISIBLE_H

#include <stddef.h>

#define VISIBLE_PIECE 8 /* bytes that one character becomes, at most */

/* Whether the environment's locale is UTF-8; otherwise only ASCII is shown as it is. */
int visible_in_utf8(void);
/* The character at `bytes` as it may be printed: itself, or \n, \t, \\, \x1b for the first byte of
 * control characters (C0, C1, line separators, those that turn the writing direction), of broken
 * UTF-8 and, unless `utf8`, of all that is not ASCII. Returns the bytes taken; left > 0. */
size_t visible_character(const char *bytes, size_t left, int utf8, char out[VISIBLE_PIECE],
                         size_t *length, size_t *columns);

/* The next piece of text that may have escape sequences of colours in it: one character, or one
 * sequence, which takes no columns. Returns its bytes; left > 0. */
size_t visible_next(const char *bytes, size_t left, size_t *columns);

#endif
