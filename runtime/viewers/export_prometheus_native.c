/* SPDX-License-Identifier: Apache-2.0 */
#include "export_prometheus.h"
#include "formats.h"

int export_prometheus_native(struct sink *out, struct run *r) {
    struct exposition x;
    struct text body;
    exposition_start(&x, &prometheus_proto);
    text_start(&body);
    int failed = prometheus_add_run(&x, r, 0) || exposition_put(&body, &x);
    sink_put(out, body.data, body.length);
    text_free(&body);
    exposition_free(&x);
    return failed;
}
