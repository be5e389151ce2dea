/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a GPU can do at best, at nominal clocks.
 */
#ifndef STINT_GPU_PEAK_H
#define STINT_GPU_PEAK_H

#include "gpu.h"

/* Bytes a second to and from its memory and single-precision operations a second, without tensor
 * cores; 0 = unknown. STINT_GPU_PEAK goes before what the device says. */
void gpu_peak(const struct gpu_device *d, uint64_t *bytes_per_s, uint64_t *flops_per_s);

#endif
