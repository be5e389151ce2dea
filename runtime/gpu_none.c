/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end of a machine, or a build, without a GPU.
 */
#include <stddef.h>

#include "gpu.h"

static int nothing(void) {
    return -1;
}

const struct gpu_ops gpu_none = {
    .name = "none",
    .reason = "this version has no GPU back end",
    .capture_start = nothing,
    .capture_stop = nothing,
};
