/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function of libstint.so that the wrappers of MPI call at the end of a scope that waits. It
 * has the version of the layout (STINT_ABI) and is not for programs.
 */
#ifndef STINT_CALL_WINDOWS_H
#define STINT_CALL_WINDOWS_H

#include "stint/stint.h"

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
