/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The callback for the lines of the library.
 */
#include "base/api.h"
#include "system/log.h"

int stint_log_set(stint_log_fn fn, void *data) {
    FUNCTION_KEEP;
    log_set_callback(fn, data);
    return STINT_OK;
}
