/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpolation as a sum over weights: the weight of input s in output d is a tent of height 1
 * and half-width 1 around d's position, on each axis. Forward sums over s; backward is its
 * transpose and gathers over d. Both windows are a little wider than the tent, whose zeros do the
 * rest, so that no edge needs a case of its own.
 */
#include "bilinear.h"

#include <math.h>
#include <stddef.h>

static double weight(int s, int d, int in, int out) {
    const double position = fmin((double)d * in / out, in - 1);
    return fmax(0, 1 - fabs(position - s));
}

static int clamped(double index, int count) {
    return (int)fmin(fmax(index, 0), count - 1);
}

static double forward_point(const struct bilinear_shape *shape, const float *in, int y, int x) {
    const double row = (double)y * shape->height / shape->out_height;
    const double column = (double)x * shape->width / shape->out_width;
    double sum = 0;
    for (int i = clamped(row - 1, shape->height); i <= clamped(row + 1, shape->height); ++i) {
        const double vertical = weight(i, y, shape->height, shape->out_height);
        for (int j = clamped(column - 1, shape->width); j <= clamped(column + 1, shape->width);
             ++j) {
            sum += vertical * weight(j, x, shape->width, shape->out_width) *
                   (double)in[(size_t)i * (size_t)shape->width + (size_t)j];
        }
    }
    return sum;
}

static double backward_point(const struct bilinear_shape *shape, const float *out_grad, int i,
                             int j) {
    const double tall = (double)shape->out_height / shape->height;
    const double wide = (double)shape->out_width / shape->width;
    const int bottom = clamped(ceil((i + 1) * tall), shape->out_height);
    const int right = clamped(ceil((j + 1) * wide), shape->out_width);
    double sum = 0;
    for (int y = clamped((i - 1) * tall, shape->out_height); y <= bottom; ++y) {
        const double vertical = weight(i, y, shape->height, shape->out_height);
        for (int x = clamped((j - 1) * wide, shape->out_width); x <= right; ++x) {
            sum += vertical * weight(j, x, shape->width, shape->out_width) *
                   (double)out_grad[(size_t)y * (size_t)shape->out_width + (size_t)x];
        }
    }
    return sum;
}

void bilinear_reference_forward(const struct bilinear_shape *shape, const float *in, double *out) {
    for (int plane = 0; plane < shape->planes; ++plane) {
        for (int y = 0; y < shape->out_height; ++y) {
            for (int x = 0; x < shape->out_width; ++x) {
                *out++ = forward_point(shape, in, y, x);
            }
        }
        in += (size_t)shape->height * (size_t)shape->width;
    }
}

void bilinear_reference_backward(const struct bilinear_shape *shape, const float *out_grad,
                                 double *in_grad) {
    for (int plane = 0; plane < shape->planes; ++plane) {
        for (int i = 0; i < shape->height; ++i) {
            for (int j = 0; j < shape->width; ++j) {
                *in_grad++ += backward_point(shape, out_grad, i, j);
            }
        }
        out_grad += (size_t)shape->out_height * (size_t)shape->out_width;
    }
}
