/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current speed of this processor, for comparing runs on machines of different speed.
 */
#ifndef STINT_REFERENCE_H
#define STINT_REFERENCE_H

#include <stdint.h>

/* Picoseconds of one turn of a small integer loop, the minimum of a few tries. Takes about 100
 * us. */
uint32_t reference_ps(void);

#endif
