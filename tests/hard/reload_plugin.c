/* SPDX-License-Identifier: Apache-2.0 */
/* An instrumented module; PLUGIN_NAME is its scope. It is built with the library in every form. */
#include "reload_plugin.h"

#include <stint/stint.h>

int plugin_run(int times) {
    for (int i = 0; i < times; ++i) {
        REGISTER_TIMER_INFO(PLUGIN_NAME, "info of " PLUGIN_NAME);
        REGISTER_TIMER_DYNAMIC(PLUGIN_NAME ".dynamic");
    }
    return stint_set_get("set of " PLUGIN_NAME) ? times : -1;
}

uint64_t plugin_calls(void) {
    stint_stat s;
    return stint_stat_get(PLUGIN_NAME, &s, sizeof s) ? 0 : s.calls;
}

int plugin_leaves_open(void) {
    return stint_scope_begin(PLUGIN_NAME ".left open");
}

int plugin_report(const char *view) {
    return stint_report(view);
}
