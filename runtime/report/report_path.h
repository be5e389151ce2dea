/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_REPORT_PATH_H
#define STINT_REPORT_PATH_H

#include "read/snapshot.h"
#include "report_grid.h"

#define REPORT_PATH 400u

/* "main > step > load", of at most so many bytes with the NUL: what does not fit goes from the
 * left. Returns the length. */
size_t report_path_text(char out[REPORT_PATH], const struct snapshot *s, uint32_t node);
/* A cell of it; "-" where no scope is known. */
void report_path(struct report_grid *g, const struct snapshot *s, uint32_t node);

#endif
