/* SPDX-License-Identifier: Apache-2.0 */
/* pairs_values FILE: for each scope of a run its name, the typical call in nanoseconds, which is
 * the number that `stint ab` compares, and its share of the wall time. For pairs_recorded.py. */
#include <stdio.h>

#include "tool/diff/diff.h"

int main(int argc, char **argv) {
    static struct diff d;
    const struct diff_options o = {.metric = DIFF_TYPICAL};
    if (argc != 2 || diff_start(&d, 1, 1) || diff_read(&d, 0, 0, argv[1]) ||
        diff_read(&d, 1, 0, argv[1]) || diff_judge(&d, &o)) {
        fprintf(stderr, "usage: pairs_values FILE\n");
        return 2;
    }
    for (uint32_t i = 0; i < d.rows; ++i) {
        const struct diff_row *r = &d.row[i];
        printf("%.*s\t%.1f\t%.6f\n", (int)r->item->length, r->item->name, r->change.side[0],
               r->total[0] / d.run[0][0].wall);
    }
    diff_end(&d);
    return 0;
}
