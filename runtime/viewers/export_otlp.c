/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"
#include "metrics.h"

int export_otlp(struct sink *out, struct run *r) {
    const struct otlp_form form = {0};
    struct metrics m;
    if (metrics_read(&m, r, 0)) {
        return -1;
    }
    int failed = otlp_put(out, &m, &form);
    metrics_free(&m);
    return failed;
}
