/* SPDX-License-Identifier: Apache-2.0 */
/* The weights of a small decoder-only transformer over bytes: six million floats, seeded. */
#ifndef SAMPLES_TRANSFORMER_MODEL_H
#define SAMPLES_TRANSFORMER_MODEL_H

enum {
    MODEL_LAYERS = 6,
    MODEL_DIM = 288,
    MODEL_HEADS = 6,
    MODEL_HEAD = MODEL_DIM / MODEL_HEADS,
    MODEL_HIDDEN = 768,
    MODEL_VOCAB = 256 /* every byte is a token */
};

/* Matrices are rows of inputs: output i is row i times the input. */
struct transformer_layer {
    char name[24];
    const float *attention_norm;
    const float *qkv;     /* 3 * DIM x DIM: queries, keys, values */
    const float *project; /* DIM x DIM */
    const float *ffn_norm;
    const float *gate_up; /* 2 * HIDDEN x DIM */
    const float *down;    /* DIM x HIDDEN */
};

struct transformer_model {
    float *memory;
    const float *embedding; /* VOCAB x DIM */
    struct transformer_layer layer[MODEL_LAYERS];
    const float *norm;
    const float *unembedding; /* VOCAB x DIM */
};

/* 0, or -1 without memory. The same seed gives the same weights everywhere. */
int transformer_model_make(struct transformer_model *model, unsigned seed);
void transformer_model_free(struct transformer_model *model);

#endif
