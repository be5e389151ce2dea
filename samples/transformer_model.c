/* SPDX-License-Identifier: Apache-2.0 */
#include "transformer_model.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stint/stint.h>

enum {
    LAYER_FLOATS = 2 * MODEL_DIM + 4 * MODEL_DIM * MODEL_DIM + 3 * MODEL_HIDDEN * MODEL_DIM,
    MODEL_FLOATS = 2 * MODEL_VOCAB * MODEL_DIM + MODEL_DIM + MODEL_LAYERS * LAYER_FLOATS
};

/* Hands out the model's memory from the front and fills it. */
struct filler {
    float *next;
    uint32_t random; /* xorshift32, never 0 */
};

/* Uniform, scaled so that a row times a vector of ones-sized entries is ones-sized again. */
static const float *matrix(struct filler *filler, int rows, int columns) {
    const float *start = filler->next;
    const float scale = sqrtf(3.0f / (float)columns) / (float)(1 << 23);
    for (ptrdiff_t left = (ptrdiff_t)rows * columns; left > 0; --left) {
        filler->random ^= filler->random << 13;
        filler->random ^= filler->random >> 17;
        filler->random ^= filler->random << 5;
        *filler->next++ = ((float)(filler->random >> 8) - (float)(1 << 23)) * scale;
    }
    return start;
}

static const float *ones(struct filler *filler, int count) {
    const float *start = filler->next;
    for (; count > 0; --count) {
        *filler->next++ = 1;
    }
    return start;
}

int transformer_model_make(struct transformer_model *model, unsigned seed) {
    STINT_TIMER_ROLE("make weights", STINT_ROLE_DATA);
    model->memory = malloc(MODEL_FLOATS * sizeof *model->memory);
    if (model->memory == NULL) {
        return -1;
    }
    struct filler filler = {model->memory, seed | 1u};
    model->embedding = matrix(&filler, MODEL_VOCAB, MODEL_DIM);
    for (int i = 0; i < MODEL_LAYERS; ++i) {
        struct transformer_layer *layer = &model->layer[i];
        snprintf(layer->name, sizeof layer->name, "layer.%d", i);
        layer->attention_norm = ones(&filler, MODEL_DIM);
        layer->qkv = matrix(&filler, 3 * MODEL_DIM, MODEL_DIM);
        layer->project = matrix(&filler, MODEL_DIM, MODEL_DIM);
        layer->ffn_norm = ones(&filler, MODEL_DIM);
        layer->gate_up = matrix(&filler, 2 * MODEL_HIDDEN, MODEL_DIM);
        layer->down = matrix(&filler, MODEL_DIM, MODEL_HIDDEN);
    }
    model->norm = ones(&filler, MODEL_DIM);
    model->unembedding = matrix(&filler, MODEL_VOCAB, MODEL_DIM);
    return 0;
}

void transformer_model_free(struct transformer_model *model) {
    free(model->memory);
    model->memory = NULL;
}
