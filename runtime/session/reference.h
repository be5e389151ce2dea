/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast this processor runs just now, so that runs on machines of another speed can be compared.
 */
#ifndef STINT_REFERENCE_H
#define STINT_REFERENCE_H

#include <stdint.h>

/* Picoseconds of one turn of a small integer loop, the best of a few tries; some 100 us of work. */
uint32_t reference_ps(void);

#endif
