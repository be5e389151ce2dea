/* SPDX-License-Identifier: Apache-2.0 */
/* One run of the model over a text: its cache, its scratch, and the step from token to token. */
#ifndef SAMPLES_TRANSFORMER_STATE_H
#define SAMPLES_TRANSFORMER_STATE_H

#include "thread_pool.h"
#include "transformer_model.h"

struct transformer_state {
    const struct transformer_model *model;
    struct thread_pool *pool;
    int limit;       /* tokens the cache holds */
    int past;        /* tokens it has */
    int slice_rows;  /* op_slice by rows instead of by elements */
    float *memory;   /* of all that follows */
    float *cache;    /* LAYERS x limit x (query, key, value) x HEADS x HEAD, as qkv wrote it */
    float *turn;     /* limit x HEAD: the angles of op_rope */
    float *window;   /* HEADS x what one head cuts out of the cache */
    float *x;        /* DIM: the residual stream */
    float *y;        /* DIM */
    float *attended; /* DIM */
    float *gate_up;  /* 2 * HIDDEN */
    float *hidden;   /* HIDDEN */
    float *logits;   /* VOCAB, for the token that follows */
};

/* 0, or -1 without memory. */
int transformer_state_make(struct transformer_state *state, const struct transformer_model *model,
                           struct thread_pool *pool, int limit);
void transformer_state_free(struct transformer_state *state);

/* Reads one token; at most `limit` times. */
void transformer_state_step(struct transformer_state *state, unsigned char token);

#endif
