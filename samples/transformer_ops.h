/* SPDX-License-Identifier: Apache-2.0 */
/* The operators of the transformer; each is a scope of its own name. */
#ifndef SAMPLES_TRANSFORMER_OPS_H
#define SAMPLES_TRANSFORMER_OPS_H

#include "thread_pool.h"

enum { SLICE_RANK = 4 };

/* A box cut out of a strided tensor, all in floats. */
struct slice_box {
    unsigned shape[SLICE_RANK];
    unsigned stride[SLICE_RANK];
    unsigned offset;
};

/* to = the box of `from`, packed. by_rows copies row by row (the last stride must be 1), otherwise
 * every element is looked up on its own. The result is the same. */
void op_slice(float *to, const float *from, const struct slice_box *box, int by_rows);

/* to = matrix (rows x columns) * vector; rows are shared among the pool. */
void op_matmul(struct thread_pool *pool, const char *instance, float *to, const float *matrix,
               const float *vector, int rows, int columns);

void op_rmsnorm(float *to, const float *from, const float *weight, int count);

/* Turns each pair of each head by its angle; `turn` holds cosine, sine for head / 2 pairs. */
void op_rope(float *heads, int count, int head, const float *turn);

/* to[i] = silu(gate_up[i]) * gate_up[count + i] */
void op_swiglu(float *to, const float *gate_up, int count);

void op_add(float *to, const float *from, int count);

/* One query against `past` keys and values, each packed rows of `head`; score: scratch of `past`.
 */
void op_attend(float *to, const float *query, const float *key, const float *value, float *score,
               int past, int head);

#endif
