/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the switches with the values that they had at the first inclusion. Each header that
 * users include begins with this file, each time: a switch that changes later has no effect. Not
 * for users.
 */
#if defined(STINT_IMPL_TIMER) && !defined(STINT_IMPL_REFUSED)
#if defined(WITH_TIMER) && STINT_IMPL_SWITCH_READ(WITH_TIMER) == 2
#if !STINT_IMPL_TIMER
#error "stint: WITH_TIMER is on here, but stint.h was included before with timers off: \
define it before the first inclusion or on the compiler's command line"
#endif
#elif STINT_IMPL_TIMER
#error "stint: WITH_TIMER is off here, but stint.h was included before with timers on: \
switch it off before the first inclusion or on the compiler's command line"
#endif
#if defined(WITH_PROFILER) && STINT_IMPL_SWITCH_READ(WITH_PROFILER) == 2
#if !STINT_IMPL_PROFILER
#error "stint: WITH_PROFILER is on here, but stint.h was included before with ranges off: \
define it before the first inclusion or on the compiler's command line"
#endif
#elif STINT_IMPL_PROFILER
#error "stint: WITH_PROFILER is off here, but stint.h was included before with ranges on: \
switch it off before the first inclusion or on the compiler's command line"
#endif
#endif

#ifdef STINT_IMPL_INLINE_1
#if !defined(STINT_INLINE) || STINT_INLINE != 1
#error "stint: STINT_INLINE is 2 here, but a header of stint was included before with 1: \
define it before the first inclusion or on the compiler's command line"
#endif
#elif defined(STINT_IMPL_INLINE_2) && defined(STINT_INLINE) && STINT_INLINE != 2
#error "stint: STINT_INLINE is 1 here, but a header of stint was included before with 2: \
define it before the first inclusion or on the compiler's command line"
#endif
