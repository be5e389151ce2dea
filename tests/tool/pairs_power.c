/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the table of power in docs/diff.md: of simulated comparisons with extra work in one of 20
 * scopes, how many find it within a budget of pairs. pairs_power.py compares it with the page.
 */
#include <stdio.h>

#include "tool/diff/diff_math.h"

#include "pairs_noise.h"

#define COMPARISONS 200u

static uint32_t count_slower(double change, double run, uint32_t budget) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < COMPARISONS; ++i) {
        struct noise n = {.random = 77000000 + i, .run = run, .change = log1p(change)};
        struct noise_result r = {0};
        noise_compare(&r, &n, budget, 0.01, 0.05);
        found += r.verdict == PAIRS_SLOWER;
    }
    return found;
}

int main(void) {
    static const uint32_t budgets[] = {5, 10, 20, 30, 50};
    static const int noise[] = {5, 10, 20}; /* tenths of a percent */
    static const int changes[] = {0, 10, 20, 30, 50};
    printf("| noise of a run | extra work | 5 pairs | 10 | 20 | 30 | 50 |\n");
    printf("|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < sizeof noise / sizeof *noise; ++k) {
        for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
            printf("| %d.%d %% | %d %% |", noise[k] / 10, noise[k] % 10, changes[i] / 10);
            for (size_t b = 0; b < sizeof budgets / sizeof *budgets; ++b) {
                uint32_t found = count_slower(changes[i] / 1e3, noise[k] / 1e3, budgets[b]);
                printf(" %u %% |", (found * 100 + COMPARISONS / 2) / COMPARISONS);
            }
            printf("\n");
        }
    }
    return 0;
}
