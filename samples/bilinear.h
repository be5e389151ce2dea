/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bilinear interpolation of NCHW planes, forward and backward, and a reference for both.
 *
 * A point of the output is at in / out times its index in the input: both origins coincide, without
 * a half-pixel offset, and past the last row or column the last one is repeated.
 */
#ifndef SAMPLES_BILINEAR_H
#define SAMPLES_BILINEAR_H

struct bilinear_shape {
    int planes; /* samples x channels */
    int height; /* of an input plane */
    int width;
    int out_height;
    int out_width;
};

/* out = interpolation of in. */
void bilinear_forward(const struct bilinear_shape *shape, const float *in, float *out);

/* in_grad += what out_grad, the gradient of the output, means for the input. */
void bilinear_backward(const struct bilinear_shape *shape, const float *out_grad, float *in_grad);

/* The same two, written apart and in double precision. */
void bilinear_reference_forward(const struct bilinear_shape *shape, const float *in, double *out);
void bilinear_reference_backward(const struct bilinear_shape *shape, const float *out_grad,
                                 double *in_grad);

#endif
