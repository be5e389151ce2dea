/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing to a descriptor, whole: interrupted and partial writes go on, and a pipe or terminal that
 * was made non-blocking is waited for.
 */
#ifndef STINT_WRITE_ALL_H
#define STINT_WRITE_ALL_H

#include <stddef.h>

#define WRITE_NO_WAIT 0
#define WRITE_WAIT_FOR_EVER (-1)

/* wait_ms: how long a non-blocking descriptor may take nothing at all. Returns the bytes written;
 * fewer than `length`: errno says why, EAGAIN that it took nothing for so long.
 * Async-signal-safe. */
size_t write_all(int fd, const void *bytes, size_t length, int wait_ms);

/* Moves a descriptor above the standard ones: a program that has closed these prints to their
 * numbers. Returns it; -1 with errno: it was -1, or none is free. */
int descriptor_raise(int fd);

#endif
