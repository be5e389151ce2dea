/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peak rates of a GPU at nominal clocks.
 */
#ifndef STINT_GPU_PEAK_H
#define STINT_GPU_PEAK_H

#include "gpu.h"

/* Bytes per second to and from its memory and single-precision operations per second, without
 * tensor cores; 0 = unknown. STINT_GPU_PEAK has precedence over the device's properties. */
void gpu_peak(const struct gpu_device *d, uint64_t *bytes_per_s, uint64_t *flops_per_s);

#endif
