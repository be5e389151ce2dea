/* SPDX-License-Identifier: Apache-2.0 */
/* Loads PLUGIN three times and prints what each load counted. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    for (int load = 0; load < 3; ++load) {
        void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
        void *symbol = plugin ? dlsym(plugin, "plugin_run") : NULL;
        uint64_t (*run)(void);
        if (!symbol) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        memcpy(&run, &symbol, sizeof run);
        printf("calls=%" PRIu64 "\n", run());
        dlclose(plugin);
    }
    return 0;
}
