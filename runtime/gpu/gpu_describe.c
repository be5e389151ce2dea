/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "config/config.h"
#include "cupti/cupti.h"
#include "gpu.h"

void gpu_describe(char *out, size_t size) {
    const struct gpu_ops *ops = gpu_known();
    char tracer[300];
    int waits = ops && !ops->reason && config.gpu == CONFIG_GPU_SYNC;
    cupti_describe(tracer, sizeof tracer);
    snprintf(out, size, "%s%s%s%s%s%s", ops ? ops->name : "", ops && ops->reason ? " (" : "",
             ops && ops->reason ? ops->reason
             : waits            ? ", sync: GPU scopes wait for their stream"
                                : "",
             ops && ops->reason ? ")" : "", ops && *tracer ? "; " : "", tracer);
}
