/* SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"
#include "otlp.h"

int export_otlp_proto(struct sink *out, struct run *r) {
    return otlp_export_run(out, r, 1);
}
