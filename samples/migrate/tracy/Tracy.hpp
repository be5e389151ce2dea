/* SPDX-License-Identifier: Apache-2.0 */
/* Tracy's names, for the macros that have an equivalent in stint (docs/migrate.md). */
#pragma once
#include <stint/stint.h>

#define ZoneScoped STINT_TIMER_FUNC()
#define ZoneScopedN(name) STINT_TIMER(name)
#define ZoneScopedC(color) STINT_TIMER_FUNC()
#define ZoneScopedNC(name, color) STINT_TIMER(name)
#define ZoneNamedN(variable, name, active) STINT_TIMER(name)
#define ZoneTransientN(variable, name, active) STINT_TIMER_DYNAMIC(name)
#define FrameMark stint_step()
#define TracyPlot(name, value) STINT_TIMER_VALUE(name, value)
#define TracyMessageL(text) STINT_TIMER_MARK(text)
