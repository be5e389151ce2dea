/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bilinear interpolation on a GPU, timed. Built without CUDA, bilinear_gpu_none.c replaces it.
 */
#ifndef SAMPLES_BILINEAR_GPU_H
#define SAMPLES_BILINEAR_GPU_H

#include "bilinear.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why there is no GPU to be used; NULL if there is one, which is then initialised. */
const char *bilinear_gpu_missing(void);

/* The same as bilinear_forward and bilinear_backward, on the GPU: allocate there, copy, run, copy
 * back. They return 0, or -1 after one line on stdout. */
int bilinear_gpu_forward(const struct bilinear_shape *shape, const float *in, float *out);
int bilinear_gpu_backward(const struct bilinear_shape *shape, const float *out_grad,
                          float *in_grad);

#ifdef __cplusplus
}
#endif

#endif
