/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two switches, read once: STINT_IMPL_TIMER and STINT_IMPL_PROFILER are 1 or 0 from here on.
 *
 * WITH_TIMER and WITH_PROFILER may be spelled as people and CMake spell them. Off: not defined, 0,
 * OFF, NO, FALSE. On: 1, defined as nothing, ON, YES, TRUE. Anything else stops with one #error,
 * because a typo that silently switches timers off costs an afternoon.
 */
#ifndef STINT_IMPL_SWITCH_H
#define STINT_IMPL_SWITCH_H

/* Every accepted spelling pastes to 1 (off) or 2 (on); a foreign one stays a name, which #if reads
 * as 0. */
#define STINT_IMPL_SWITCH_0 1
#define STINT_IMPL_SWITCH_OFF 1
#define STINT_IMPL_SWITCH_Off 1
#define STINT_IMPL_SWITCH_off 1
#define STINT_IMPL_SWITCH_NO 1
#define STINT_IMPL_SWITCH_no 1
#define STINT_IMPL_SWITCH_FALSE 1
#define STINT_IMPL_SWITCH_False 1
#define STINT_IMPL_SWITCH_false 1
#define STINT_IMPL_SWITCH_ 2
#define STINT_IMPL_SWITCH_1 2
#define STINT_IMPL_SWITCH_ON 2
#define STINT_IMPL_SWITCH_On 2
#define STINT_IMPL_SWITCH_on 2
#define STINT_IMPL_SWITCH_YES 2
#define STINT_IMPL_SWITCH_yes 2
#define STINT_IMPL_SWITCH_TRUE 2
#define STINT_IMPL_SWITCH_True 2
#define STINT_IMPL_SWITCH_true 2
#define STINT_IMPL_SWITCH_PASTE(x) STINT_IMPL_SWITCH_##x
#define STINT_IMPL_SWITCH_READ(x) STINT_IMPL_SWITCH_PASTE(x)

#ifdef WITH_TIMER
#if STINT_IMPL_SWITCH_READ(WITH_TIMER) == 2
#define STINT_IMPL_TIMER 1
#elif STINT_IMPL_SWITCH_READ(WITH_TIMER) == 1
#define STINT_IMPL_TIMER 0
#else
#error "stint: WITH_TIMER must be ON or OFF (also 1, 0, YES, NO, TRUE, FALSE, or empty for ON)"
#define STINT_IMPL_TIMER 0
#endif
#else
#define STINT_IMPL_TIMER 0
#endif

#ifdef WITH_PROFILER
#if STINT_IMPL_SWITCH_READ(WITH_PROFILER) == 2
#define STINT_IMPL_PROFILER 1
#elif STINT_IMPL_SWITCH_READ(WITH_PROFILER) == 1
#define STINT_IMPL_PROFILER 0
#else
#error "stint: WITH_PROFILER must be ON or OFF (also 1, 0, YES, NO, TRUE, FALSE, or empty for ON)"
#define STINT_IMPL_PROFILER 0
#endif
#else
#define STINT_IMPL_PROFILER 0
#endif

/* After one of these errors both are off, so that it is the only one. */
#if STINT_IMPL_TIMER || STINT_IMPL_PROFILER
#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__)) || !defined(__GNUC__)
#error "stint: timers need Linux on x86-64 or aarch64 and gcc or clang; build with them off here"
#define STINT_IMPL_REFUSED 1
#elif !defined(__cplusplus) && defined(__STRICT_ANSI__) && !defined(inline) &&                     \
    !(defined(__STDC_VERSION__) &&                                                                 \
      __STDC_VERSION__ >= 199901L) /* generated code defines inline */
#error "stint: timers need C11 or -std=gnu89, not strict C89; or build with them off here"
#define STINT_IMPL_REFUSED 1
#endif
#endif

#ifdef STINT_IMPL_REFUSED
#undef STINT_IMPL_TIMER
#undef STINT_IMPL_PROFILER
#define STINT_IMPL_TIMER 0
#define STINT_IMPL_PROFILER 0
#endif

#endif
