/* SPDX-License-Identifier: Apache-2.0 */
#include "status.h"

#include <stddef.h>

#include "status_table.inc"

const struct status_text *status_text(uint32_t id) {
    if (id >= STINT_STATUS_COUNT) {
        return NULL;
    }
    return &status_table[id];
}
