/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of the library that runs, which may be newer or older than the program's header.
 * And the texts of results.
 */

#include "base/api.h"

const char *stint_version(void) {
    return STINT_VERSION;
}

const char *stint_result_text(int result) {
    static const char *const texts[] = {
        [-STINT_OK] = "ok",
        [-STINT_ERROR_UNKNOWN] = "unknown or invalid argument",
        [-STINT_ERROR_NO_MEMORY] = "no memory",
        [-STINT_ERROR_CANNOT_WRITE] = "cannot write",
        [-STINT_ERROR_BUSY] = "busy",
        [-STINT_ERROR_NOT_AVAILABLE] = "not available",
    };
    const int lowest = 1 - (int)(sizeof texts / sizeof *texts);
    if (result > 0 || result < lowest) {
        return "unknown result";
    }
    return texts[-result];
}
