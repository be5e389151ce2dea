/* SPDX-License-Identifier: Apache-2.0 */
#include "transformer_state.h"

#include "transformer_ops.h"

#include <math.h>
#include <stdlib.h>
#include <stint/stint.h>
#include <string.h>

enum { FUSED = 3 * MODEL_DIM, QUERY = 0, KEY = 1, VALUE = 2 };

/* Floats a head needs: query, keys, values, scores. */
static size_t window_size(int limit) {
    return MODEL_HEAD + (size_t)limit * (2 * MODEL_HEAD + 1);
}

static float *taken(float **from, size_t count) {
    float *start = *from;
    *from += count;
    return start;
}

static void make_turns(float *turn, int limit) {
    for (int at = 0; at < limit; ++at) {
        for (int i = 0; i < MODEL_HEAD; i += 2) {
            const double angle = at * pow(10000, -(double)i / (double)MODEL_HEAD);
            *turn++ = (float)cos(angle);
            *turn++ = (float)sin(angle);
        }
    }
}

int transformer_state_make(struct transformer_state *state, const struct transformer_model *model,
                           struct thread_pool *pool, int limit) {
    const size_t cache = (size_t)MODEL_LAYERS * (size_t)limit * FUSED;
    const size_t turns = (size_t)limit * MODEL_HEAD;
    const size_t windows = MODEL_HEADS * window_size(limit);
    const size_t scratch = 3 * MODEL_DIM + 3 * MODEL_HIDDEN + MODEL_VOCAB;
    *state = (struct transformer_state){.model = model, .pool = pool, .limit = limit};
    state->memory = calloc(cache + turns + windows + scratch, sizeof *state->memory);
    if (state->memory == NULL) {
        return -1;
    }
    float *next = state->memory;
    state->cache = taken(&next, cache);
    state->turn = taken(&next, turns);
    state->window = taken(&next, windows);
    state->x = taken(&next, MODEL_DIM);
    state->y = taken(&next, MODEL_DIM);
    state->attended = taken(&next, MODEL_DIM);
    state->gate_up = taken(&next, 2 * MODEL_HIDDEN);
    state->hidden = taken(&next, MODEL_HIDDEN);
    state->logits = taken(&next, MODEL_VOCAB);
    make_turns(state->turn, limit);
    return 0;
}

void transformer_state_free(struct transformer_state *state) {
    free(state->memory);
    state->memory = NULL;
}

/* One layer's attention, one part a head. */
struct attention {
    struct transformer_state *state;
    const float *cache; /* of the layer */
};

/* `rows` tokens' queries, keys or values of one head, from token `first` on. */
static struct slice_box head_box(int first, int rows, int which, int head) {
    return (struct slice_box){
        {(unsigned)rows, 1, 1, MODEL_HEAD},
        {FUSED, MODEL_DIM, MODEL_HEAD, 1},
        (unsigned)(first * FUSED + which * MODEL_DIM + head * MODEL_HEAD),
    };
}

static void attention_head(void *argument, int head) {
    const struct attention *job = argument;
    struct transformer_state *state = job->state;
    const int past = state->past + 1; /* with this token */
    float *query = state->window + (size_t)head * window_size(state->limit);
    float *key = query + MODEL_HEAD;
    float *value = key + (size_t)past * MODEL_HEAD;
    float *score = value + (size_t)past * MODEL_HEAD;
    const struct slice_box query_box = head_box(state->past, 1, QUERY, head);
    const struct slice_box key_box = head_box(0, past, KEY, head);
    const struct slice_box value_box = head_box(0, past, VALUE, head);
    op_slice(query, job->cache, &query_box, state->slice_rows);
    op_slice(key, job->cache, &key_box, state->slice_rows);
    op_slice(value, job->cache, &value_box, state->slice_rows);
    op_attend(state->attended + head * MODEL_HEAD, query, key, value, score, past, MODEL_HEAD);
}

static void attention(struct transformer_state *state, const struct transformer_layer *layer,
                      const float *cache) {
    STINT_TIMER_OP("attention", layer->name);
    struct attention job = {state, cache};
    (void)layer;
    thread_pool_run(state->pool, attention_head, &job, MODEL_HEADS);
}

static void layer_step(struct transformer_state *state, int index) {
    const struct transformer_layer *layer = &state->model->layer[index];
    float *cache = state->cache + (size_t)index * (size_t)state->limit * FUSED;
    float *fused = cache + (size_t)state->past * FUSED;
    op_rmsnorm(state->y, state->x, layer->attention_norm, MODEL_DIM);
    op_matmul(state->pool, "qkv", fused, layer->qkv, state->y, FUSED, MODEL_DIM);
    /* Queries and keys lie side by side. */
    op_rope(fused, 2 * MODEL_HEADS, MODEL_HEAD, state->turn + (size_t)state->past * MODEL_HEAD);
    attention(state, layer, cache);
    op_matmul(state->pool, "project", state->y, layer->project, state->attended, MODEL_DIM,
              MODEL_DIM);
    op_add(state->x, state->y, MODEL_DIM);
    op_rmsnorm(state->y, state->x, layer->ffn_norm, MODEL_DIM);
    op_matmul(state->pool, "gate_up", state->gate_up, layer->gate_up, state->y, 2 * MODEL_HIDDEN,
              MODEL_DIM);
    op_swiglu(state->hidden, state->gate_up, MODEL_HIDDEN);
    op_matmul(state->pool, "down", state->y, layer->down, state->hidden, MODEL_DIM, MODEL_HIDDEN);
    op_add(state->x, state->y, MODEL_DIM);
}

void transformer_state_step(struct transformer_state *state, unsigned char token) {
    STINT_TIMER_ROLE("token", STINT_ROLE_STEP);
    const struct transformer_model *model = state->model;
    memcpy(state->x, model->embedding + token * MODEL_DIM, MODEL_DIM * sizeof *state->x);
    for (int i = 0; i < MODEL_LAYERS; ++i) {
        layer_step(state, i);
    }
    op_rmsnorm(state->y, state->x, model->norm, MODEL_DIM);
    op_matmul(state->pool, "logits", state->logits, model->unembedding, state->y, MODEL_VOCAB,
              MODEL_DIM);
    ++state->past;
}
