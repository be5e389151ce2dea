/* SPDX-License-Identifier: Apache-2.0 */
/* Four taps an output point; backward scatters each output gradient over the same four. */
#include "bilinear.h"

#include <stddef.h>

/* The place of an output index on one axis of the input. */
struct tap {
    int low;
    int step; /* to the higher neighbour; 0 at the last row or column */
    float high_weight;
};

static struct tap tap_of(int index, int in, int out) {
    const float position = (float)in / (float)out * (float)index;
    struct tap tap;
    tap.low = (int)position;
    tap.step = tap.low < in - 1 ? 1 : 0;
    tap.high_weight = position - (float)tap.low;
    return tap;
}

static void forward_plane(const struct bilinear_shape *shape, const float *in, float *out) {
    for (int y = 0; y < shape->out_height; ++y) {
        const struct tap v = tap_of(y, shape->height, shape->out_height);
        const float *upper = in + (size_t)v.low * (size_t)shape->width;
        const float *lower = upper + v.step * shape->width;
        for (int x = 0; x < shape->out_width; ++x) {
            const struct tap h = tap_of(x, shape->width, shape->out_width);
            const float top =
                (1 - h.high_weight) * upper[h.low] + h.high_weight * upper[h.low + h.step];
            const float bottom =
                (1 - h.high_weight) * lower[h.low] + h.high_weight * lower[h.low + h.step];
            *out++ = (1 - v.high_weight) * top + v.high_weight * bottom;
        }
    }
}

static void backward_plane(const struct bilinear_shape *shape, const float *out_grad,
                           float *in_grad) {
    for (int y = 0; y < shape->out_height; ++y) {
        const struct tap v = tap_of(y, shape->height, shape->out_height);
        float *upper = in_grad + (size_t)v.low * (size_t)shape->width;
        float *lower = upper + v.step * shape->width;
        for (int x = 0; x < shape->out_width; ++x) {
            const struct tap h = tap_of(x, shape->width, shape->out_width);
            const float top = (1 - v.high_weight) * *out_grad;
            const float bottom = v.high_weight * *out_grad++;
            upper[h.low] += (1 - h.high_weight) * top;
            upper[h.low + h.step] += h.high_weight * top;
            lower[h.low] += (1 - h.high_weight) * bottom;
            lower[h.low + h.step] += h.high_weight * bottom;
        }
    }
}

void bilinear_forward(const struct bilinear_shape *shape, const float *in, float *out) {
    const size_t in_plane = (size_t)shape->height * (size_t)shape->width;
    const size_t out_plane = (size_t)shape->out_height * (size_t)shape->out_width;
    for (int plane = 0; plane < shape->planes; ++plane) {
        forward_plane(shape, in + (size_t)plane * in_plane, out + (size_t)plane * out_plane);
    }
}

void bilinear_backward(const struct bilinear_shape *shape, const float *out_grad, float *in_grad) {
    const size_t in_plane = (size_t)shape->height * (size_t)shape->width;
    const size_t out_plane = (size_t)shape->out_height * (size_t)shape->out_width;
    for (int plane = 0; plane < shape->planes; ++plane) {
        backward_plane(shape, out_grad + (size_t)plane * out_plane,
                       in_grad + (size_t)plane * in_plane);
    }
}
