/* SPDX-License-Identifier: Apache-2.0 */
#include "transformer_ops.h"

#include <math.h>
#include <stint/stint.h>
#include <string.h>

enum { LANES = 8 }; /* independent sums, so that the compiler may use vectors; fixes the order */

static float dot(const float *a, const float *b, int count) {
    float lane[LANES] = {0};
    int i = 0;
    for (; i + LANES <= count; i += LANES) {
        for (int k = 0; k < LANES; ++k) {
            lane[k] += a[i + k] * b[i + k];
        }
    }
    float sum = 0;
    for (; i < count; ++i) {
        sum += a[i] * b[i];
    }
    for (int k = 0; k < LANES; ++k) {
        sum += lane[k];
    }
    return sum;
}

/* Looks every element up on its own: right for any strides, and a division per dimension. */
static void copy_elements(float *to, const float *from, const struct slice_box *box) {
    const unsigned *shape = box->shape;
    const unsigned count = shape[0] * shape[1] * shape[2] * shape[3];
    for (unsigned i = 0; i < count; ++i) {
        unsigned at = box->offset;
        unsigned rest = i;
        for (int axis = SLICE_RANK - 1; axis >= 0; --axis) {
            at += rest % shape[axis] * box->stride[axis];
            rest /= shape[axis];
        }
        to[i] = from[at];
    }
}

static void copy_rows(float *to, const float *from, const struct slice_box *box) {
    const unsigned *shape = box->shape;
    const unsigned *stride = box->stride;
    for (unsigned i = 0; i < shape[0]; ++i) {
        for (unsigned j = 0; j < shape[1]; ++j) {
            for (unsigned k = 0; k < shape[2]; ++k) {
                const unsigned at = box->offset + i * stride[0] + j * stride[1] + k * stride[2];
                memcpy(to, from + at, shape[3] * sizeof *to);
                to += shape[3];
            }
        }
    }
}

void op_slice(float *to, const float *from, const struct slice_box *box, int by_rows) {
    STINT_TIMER_ROLE("slice", STINT_ROLE_COPY);
    if (by_rows) {
        copy_rows(to, from, box);
    } else {
        copy_elements(to, from, box);
    }
}

struct matmul {
    float *to;
    const float *matrix;
    const float *vector;
    int rows;
    int columns;
    int parts;
};

static void matmul_part(void *argument, int part) {
    STINT_TIMER_ROLE("matmul/compute", STINT_ROLE_COMPUTE);
    const struct matmul *job = argument;
    const int end = job->rows * (part + 1) / job->parts;
    for (int i = job->rows * part / job->parts; i < end; ++i) {
        job->to[i] = dot(job->matrix + (long)i * job->columns, job->vector, job->columns);
    }
}

void op_matmul(struct thread_pool *pool, const char *instance, float *to, const float *matrix,
               const float *vector, int rows, int columns) {
    STINT_TIMER_OP("matmul", instance);
    /* Two parts a thread: one that starts late leaves its second to the others. */
    struct matmul job = {to, matrix, vector, rows, columns, 2 * thread_pool_threads(pool)};
    thread_pool_run(pool, matmul_part, &job, job.parts);
    (void)instance;
}

void op_rmsnorm(float *to, const float *from, const float *weight, int count) {
    STINT_TIMER_ROLE("rmsnorm", STINT_ROLE_COMPUTE);
    const float scale = 1 / sqrtf(dot(from, from, count) / (float)count + 1e-5f);
    for (int i = 0; i < count; ++i) {
        to[i] = from[i] * scale * weight[i];
    }
}

void op_rope(float *heads, int count, int head, const float *turn) {
    STINT_TIMER_ROLE("rope", STINT_ROLE_COMPUTE);
    for (; count > 0; --count, heads += head) {
        for (int i = 0; i < head; i += 2) {
            const float x = heads[i];
            const float y = heads[i + 1];
            heads[i] = x * turn[i] - y * turn[i + 1];
            heads[i + 1] = x * turn[i + 1] + y * turn[i];
        }
    }
}

void op_swiglu(float *to, const float *gate_up, int count) {
    STINT_TIMER_ROLE("swiglu", STINT_ROLE_COMPUTE);
    for (int i = 0; i < count; ++i) {
        to[i] = gate_up[i] / (1 + expf(-gate_up[i])) * gate_up[count + i];
    }
}

void op_add(float *to, const float *from, int count) {
    STINT_TIMER_ROLE("add", STINT_ROLE_COMPUTE);
    for (int i = 0; i < count; ++i) {
        to[i] += from[i];
    }
}

void op_attend(float *to, const float *query, const float *key, const float *value, float *score,
               int past, int head) {
    STINT_TIMER_ROLE("attention/compute", STINT_ROLE_COMPUTE);
    float highest = -INFINITY;
    for (int i = 0; i < past; ++i) {
        score[i] = dot(query, key + (long)i * head, head) / sqrtf((float)head);
        highest = fmaxf(highest, score[i]);
    }
    float sum = 0;
    for (int i = 0; i < past; ++i) {
        score[i] = expf(score[i] - highest);
        sum += score[i];
    }
    memset(to, 0, (size_t)head * sizeof *to);
    for (int i = 0; i < past; ++i) {
        const float share = score[i] / sum;
        for (int k = 0; k < head; ++k) {
            to[k] += share * value[(long)i * head + k];
        }
    }
}
