/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REAL_SCOPE(function): a scope of one of the libraries, from there to the end of the function.
 * ../real.py puts it into functions of SQLite, and says which library by a definition.
 */
#ifndef REAL_SCOPE_H
#define REAL_SCOPE_H

#if defined(REAL_STINT)
#include <stint/stint.h>
#define REAL_SCOPE(function) STINT_TIMER(#function)

#elif defined(REAL_LTTNG)
#include "../compare/compare_lttng_provider.h"
static inline void real_leave(const char *unused) {
    (void)unused;
    lttng_ust_tracepoint(stint_compare, leave);
}
#define REAL_SCOPE(function)                                                                       \
    __attribute__((cleanup(real_leave))) const char real_scope = 0;                                \
    lttng_ust_tracepoint(stint_compare, enter)

#elif defined(REAL_UFTRACE)
/* The functions that gcc's -finstrument-functions calls, which uftrace defines. */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);
static inline void real_leave(void *const *function) {
    __cyg_profile_func_exit(*function, __builtin_return_address(0));
}
#define REAL_SCOPE(function)                                                                       \
    __attribute__((cleanup(real_leave))) void *const real_scope = (void *)(function);              \
    __cyg_profile_func_enter(real_scope, __builtin_return_address(0))

#else
#define REAL_SCOPE(function) (void)0
#endif

#endif
