/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening run files.
 */
#ifndef STINT_RUN_OPEN_H
#define STINT_RUN_OPEN_H

#include "read/run.h"

/* 0, or -1 after one line on stderr that says what, where and what to do. */
int run_open(struct run *r, const char *path);
/* The same, if it is known that the writer has just ended. */
int run_open_ended(struct run *r, const char *path);
void run_close(struct run *r);

#endif
