/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of roctracer/roctx.h of AMD's roctracer 5.7.1 (Debian's libroctx-dev), with what
 * its comments say of them: a push returns the level of the range, 0 for the outermost, a pop that
 * of the range that ends, and a negative number if there is none; a started range has a number of
 * its own. The test ranges.roctx_real compiles roctx_program.c with this file and that header.
 */
#ifndef STINT_TEST_ROCTX_API_H
#define STINT_TEST_ROCTX_API_H

#include <stdint.h>

void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);

#endif
