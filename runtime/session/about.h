/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The description of this run in its arena: program, command line, machine and label. The
 * registry's lock is held.
 */
#ifndef STINT_ABOUT_H
#define STINT_ABOUT_H

#include <stdint.h>

/* Fills it in. */
void about_fill(void);
/* The text of the run's conditions and label in the arena; 0 = none. */
uint32_t about_conditions(void);
/* A text in the arena; 0 without room. */
uint32_t about_put_text(const char *text);

/* The current speed of this processor, for comparing runs on machines of different speed:
 * picoseconds of one turn of a small integer loop, the minimum of a few tries. Takes about 100
 * us. */
uint32_t reference_ps(void);

#endif
