/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults that are known and not fixed yet: what they concern is left out of the programs or of the
 * comparison, until the library has what fixes them.
 */
#ifndef STINT_TESTS_KNOWN_H
#define STINT_TESTS_KNOWN_H

#include "record/tree.h"
#include "stint/detail/impl_layout.h"

/* A guard is its address alone: a scope that is switched off closes one that was left open there,
 * and one that another thread ends is not told apart. */
#ifdef STINT_IMPL_MOVED
#define KNOWN_GUARD 0
#else
#define KNOWN_GUARD 1
#endif

/* Self time counts open and abandoned calls; percentiles count calls inside one of the same
 * name. */
#ifdef TREE_HISTOGRAM_INNER
#define KNOWN_SELF 0
#else
#define KNOWN_SELF 1
#endif

/* A call in a recursive one, both started earlier (REGISTER_TIMER_SET), takes more off the
 * outermost call's self time than its part in that call. */
#define KNOWN_RECURSIVE_SINCE 0

#endif
