/* SPDX-License-Identifier: Apache-2.0 */
#include "exposition.h"
#include "formats.h"

int export_prometheus_native(struct sink *out, struct run *r) {
    struct exposition x;
    struct text body;
    exposition_start(&x, 1, 0);
    text_start(&body);
    int failed = exposition_add(&x, r) || exposition_put(&body, &x);
    sink_put(out, body.data, body.length);
    text_free(&body);
    exposition_free(&x);
    return failed;
}
