/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STINT_GPU_CUDART_H
#define STINT_GPU_CUDART_H

#include "gpu.h"

extern const struct gpu_backend gpu_cudart;

#endif
