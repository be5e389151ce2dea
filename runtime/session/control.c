/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings changed by a call: each takes effect at the next scope of every thread, through the
 * gate.
 */
#include "base/api.h"
#include "record/registry.h"
#include "system/config.h"
#include "system/filter.h"
#include "system/log.h"

static void setting_change(int *setting, int value) {
    FUNCTION_KEEP;
    registry_lock();
    if (*setting != value) {
        *setting = value;
        registry_advance();
    }
    registry_unlock();
}

void stint_timers_enable(int on) {
    setting_change(&config.enable, on != 0);
}

int stint_level_set(int level) {
    if (level < STINT_LEVEL_DEFAULT || level > STINT_LEVEL_ALL_OP_DETAIL) {
        return STINT_ERROR_UNKNOWN;
    }
    setting_change(&config.level, level);
    return STINT_OK;
}

int stint_filter_set(const char *globs) {
    FUNCTION_KEEP;
    registry_lock();
    int result = filter_set(globs);
    if (!result) {
        registry_advance();
    }
    registry_unlock();
    return result;
}

void stint_threads_show(int each) {
    __atomic_store_n(&config.threads, each != 0, __ATOMIC_RELAXED);
}
