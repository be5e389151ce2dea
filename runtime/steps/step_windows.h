/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each waiting scope waited per window of steps.
 */
#ifndef STINT_STEP_WINDOWS_H
#define STINT_STEP_WINDOWS_H

#include <stdint.h>

/* Step number `step`, from 1, has ended. Any thread. Nothing happens in a program without waiting
 * scopes. */
void step_windows_add(uint64_t step);

#endif
