/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public header as the runtime sees it: always on, and exported from a shared library. A static
 * library exports nothing, so that each module that holds a copy keeps it to itself.
 */
#ifndef STINT_API_H
#define STINT_API_H

#undef WITH_TIMER
#undef WITH_PROFILER
#define WITH_TIMER 1
#define WITH_PROFILER 1
#define STINT_NO_LEGACY_NAMES

#ifndef STINT_STATIC
#pragma GCC visibility push(default)
#endif
#include "stint/stint.h"
#ifndef STINT_STATIC
#pragma GCC visibility pop
#endif

#endif
