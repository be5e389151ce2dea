/* SPDX-License-Identifier: Apache-2.0 */
/* A run whose scopes take given times on the fake clock: history_program [NAME NS]... */
#include <stdlib.h>

#include <stint/stint.h>

#include "fake_clock.h"

int main(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        REGISTER_TIMER_DYNAMIC(argv[i]);
        fake_advance(strtoull(argv[i + 1], NULL, 10));
    }
    return 0;
}
