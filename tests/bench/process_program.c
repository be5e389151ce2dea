/* SPDX-License-Identifier: Apache-2.0 */
/* A short process with two scopes, for process.py: what it costs is its start and its end. */
#include <stint/stint.h>

static void step(void) {
    REGISTER_TIMER("step");
    { REGISTER_TIMER("load"); }
}

int main(void) {
    for (int i = 0; i < 10; ++i) {
        step();
    }
    return 0;
}
