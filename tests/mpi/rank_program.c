/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with a scope that sees ranks as the wrappers of MPI do: rank_program RANK/SIZE... With
 * "wait" in their place it goes on when its input ends.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/range_calls.h"

int main(int argc, char **argv) {
    REGISTER_TIMER("work");
    if (argc > 1 && !strcmp(argv[1], "wait")) {
        return getchar() != EOF;
    }
    for (int i = 1; i < argc; ++i) {
        char *rest;
        unsigned long rank = strtoul(argv[i], &rest, 10);
        unsigned long size = strtoul(rest + 1, NULL, 10);
        errno = EDOM;
        stint_impl_rank_seen((uint32_t)rank, (uint32_t)size);
        if (errno != EDOM) {
            return 1;
        }
    }
    return 0;
}
