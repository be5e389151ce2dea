/* SPDX-License-Identifier: Apache-2.0 */
/* GPTL's names as timers of stint (docs/migrate.md). */
#ifndef GPTL_BY_STINT_H
#define GPTL_BY_STINT_H
#include <stint/stint.h>

#define GPTLinitialize() 0
#define GPTLfinalize() 0
#define GPTLstart(name) stint_scope_begin(name)
#define GPTLstop(name) stint_scope_end(name)
#define GPTLpr(rank) ((void)(rank), stint_report("tree"))
#define GPTLenable() stint_timers_enable(1)
#define GPTLdisable() stint_timers_enable(0)
#define GPTLreset() stint_reset()
#endif
