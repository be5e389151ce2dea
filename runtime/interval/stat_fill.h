/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as programs see them.
 */
#ifndef STINT_STAT_FILL_H
#define STINT_STAT_FILL_H

#include "base/api.h"
#include "model/rows.h"

/* Bytes of a stint_stat that the library hands out by pointer. Those after its own structure are
 * 0, for programs built with a newer header. */
#define STAT_ROOM 512

void stat_fill(const struct stint_row *r, stint_stat *out);

#endif
