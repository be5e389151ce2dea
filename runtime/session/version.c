/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version of the library that runs, which may be newer or older than the program's header.
 */
#include "base/api.h"

const char *stint_version(void) {
    return STINT_VERSION;
}
