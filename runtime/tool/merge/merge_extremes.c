/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The info of the longest call, and calls that are equally long: which of them counts must not
 * depend on the order of the runs. merge_nodes.c calls.
 */
#include <string.h>

#include "merge.h"

void merge_extremes_add(struct stint_impl_node *to, uint64_t number[SCOPE_NUMBERS],
                        const char *info) {
    uint64_t longest = number[SCOPE_MAX];
    if (!number[SCOPE_COUNT]) { /* a root has 0 */
        number[SCOPE_MIN] = UINT64_MAX;
        return;
    }
    if (longest > to->max || (longest == to->max && strncmp(info, to->info, sizeof to->info) > 0)) {
        to->max_at = number[SCOPE_MAX_AT];
        memcpy(to->info, info, sizeof to->info);
    }
}
