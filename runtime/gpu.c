/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu.h"

const struct gpu_ops *gpu_ops(void) {
    return &gpu_none;
}
