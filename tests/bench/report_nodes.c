/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes nodes for report_memory.py: `report_nodes names N` scopes of N names, `report_nodes paths
 * N` of 100 names in N places of the call tree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stint/stint.h>

static char few[100][16];
static long left;

static void make_names(void) {
    char name[32];
    for (; left; --left) {
        snprintf(name, sizeof name, "name %ld", left);
        STINT_TIMER_DYNAMIC(name);
    }
}

static void make_paths(int depth) {
    for (int i = 0; i < 100 && left; ++i) {
        STINT_TIMER_DYNAMIC(few[i]);
        --left;
        if (depth) {
            make_paths(depth - 1);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        return 2;
    }
    left = atol(argv[2]);
    for (int i = 0; i < 100; ++i) {
        snprintf(few[i], sizeof few[i], "name %d", i);
    }
    if (strcmp(argv[1], "names") == 0) {
        make_names();
    } else {
        make_paths(2);
    }
    return 0;
}
