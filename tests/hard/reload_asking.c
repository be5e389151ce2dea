/* SPDX-License-Identifier: Apache-2.0 */
/* A module whose constructor calls the program, with the loader's lock held. */
#include "reload_plugin.h"

__attribute__((constructor)) static void ask(void) {
    plugin_is_constructed();
}
