/* SPDX-License-Identifier: Apache-2.0 */
#include "api.h"

int plugin_run(void) {
    return api_begin_(3, 4);
}
