/* SPDX-License-Identifier: Apache-2.0 */
#include <stint/stint.hpp>

#define stint_stat_get(name, stat, size) globalStat.getStat(name, stat)
#include "app.c"
