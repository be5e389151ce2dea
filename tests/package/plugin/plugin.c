/* SPDX-License-Identifier: Apache-2.0 */
#include <stint/stint.h>

uint64_t plugin_run(void);

/* Three calls more; the calls of all its loads together. */
uint64_t plugin_run(void) {
    stint_stat stat = {0};
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("plugin");
    }
    stint_stat_get("plugin", &stat, sizeof stat);
    return stat.calls;
}
