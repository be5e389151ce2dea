/* SPDX-License-Identifier: Apache-2.0 */
/* Loads PLUGIN, which is work.c, three times and prints what each load counted. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

int main(void) {
    for (int load = 0; load < 3; ++load) {
        void *plugin = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
        if (!plugin) {
            fprintf(stderr, "%s\n", dlerror());
            return 1;
        }
        void (*work)(void) = (void (*)(void))dlsym(plugin, "work_do");
        uint64_t (*calls)(void) = (uint64_t(*)(void))dlsym(plugin, "work_calls");
        for (int i = 0; i < 3; ++i) {
            work();
        }
        printf("calls=%" PRIu64 "\n", calls());
        dlclose(plugin);
    }
    return 0;
}
