/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long each waiting scope waited per window of steps.
 */
#ifndef STINT_STEP_WINDOWS_H
#define STINT_STEP_WINDOWS_H

#include <stdint.h>

#include "stint/stint.h"

/* Step number `step`, from 1, has ended. Any thread. Nothing happens in a program without waiting
 * scopes. */
void step_windows_add(uint64_t step);

/* For the wrappers of MPI, so it has the version of the layout. */
#define stint_impl_end_call STINT_IMPL_ABI_NAME(stint_impl_end_call)

#if defined(STINT_SESSION) && !defined(STINT_STATIC)
#pragma GCC visibility push(default)
#endif
/* Ends a waiting scope as stint_impl_end does, and counts it in its windows by calls. */
extern void stint_impl_end_call(void *guard);
#if defined(STINT_SESSION) && !defined(STINT_STATIC)
#pragma GCC visibility pop
#endif

#endif
