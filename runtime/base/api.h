/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public header as the runtime sees it: always on.
 *
 * The layers session, interval and job and compat/profiler define what programs call, and export it
 * from a shared library; a static library exports nothing, so that each module that holds a copy
 * keeps it to itself. In the layers below, the inline path calls the recorder's own functions
 * instead of the exported ones.
 */
#ifndef STINT_API_H
#define STINT_API_H

#undef WITH_TIMER
#undef WITH_PROFILER
#define WITH_TIMER 1
#define WITH_PROFILER 1

#ifdef STINT_SESSION
#ifndef STINT_STATIC
#pragma GCC visibility push(default)
#endif
#include "stint/stint.h"

#include "stint/lines.h"
#ifndef STINT_STATIC
#pragma GCC visibility pop
#endif
/* Every file of these layers that a program takes out of libstint.a brings connect.o with it,
 * and thereby the constructors and the exit report, which nothing calls. */
extern const char session_is_linked;
__attribute__((used)) static const char *const session_anchor = &session_is_linked;
#else
#define STINT_IMPL_BEGIN_SLOW recorder_begin_slow
#define STINT_IMPL_END_SLOW recorder_end_slow
#define STINT_INLINE 1 /* no local copy that a file might not use */
#include "stint/stint.h"
#endif

#endif
