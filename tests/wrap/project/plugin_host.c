/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(void) = module ? (int (*)(void))dlsym(module, "plugin_run") : NULL;
    if (!run) {
        puts("no plugin");
        return 1;
    }
    printf("plugin %d\n", run());
    return 0;
}
