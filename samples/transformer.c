/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transformer [--fixed] [--tokens N] [--threads N] FILE
 *
 * Reads a file's bytes as tokens, scores each prediction against the byte that follows, and goes on
 * with its own where the file ends. The weights are random: the score means nothing, but it is the
 * same on every run, so that two builds can be compared. The slices it cuts for each head are
 * copied element by element; --fixed copies rows. Timers show what that is worth.
 */
#define _POSIX_C_SOURCE 200809L
#include "thread_pool.h"
#include "transformer_state.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stint/stint.h>
#include <string.h>
#include <time.h>

enum { MAX_TOKENS = 512, MAX_THREADS = 64 };

struct options {
    int fixed;
    int tokens;
    int threads;
    const char *path;
};

struct text {
    unsigned char byte[MAX_TOKENS + 1]; /* one more: what follows the last token */
    int count;
};

struct score {
    double loss;       /* sum of -log p(next byte), natural */
    int predictions;   /* how many of them */
    int hits;          /* of which the likeliest byte was the next one */
    uint64_t checksum; /* FNV-1a over the bits of all logits */
};

static int number(const char *text, int highest) {
    char *end;
    const long value = text ? strtol(text, &end, 10) : 0;
    return value >= 1 && value <= highest && *end == '\0' ? (int)value : -1;
}

static int parse(int argc, char **argv, struct options *options) {
    for (int i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--fixed") == 0) {
            options->fixed = 1;
        } else if (strcmp(argv[i], "--tokens") == 0) {
            options->tokens = number(argv[++i], MAX_TOKENS);
        } else if (strcmp(argv[i], "--threads") == 0) {
            options->threads = number(argv[++i], MAX_THREADS);
        } else if (argv[i][0] == '-' || options->path != NULL) {
            return -1;
        } else {
            options->path = argv[i];
        }
    }
    return options->path == NULL || options->tokens < 0 || options->threads < 0 ? -1 : 0;
}

/* NULL or why not. */
static const char *read_text(const char *path, struct text *text, int tokens) {
    STINT_TIMER_ROLE("read text", STINT_ROLE_DATA);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return strerror(errno);
    }
    errno = 0;
    text->count = (int)fread(text->byte, 1, (size_t)tokens + 1, file);
    const char *error = ferror(file) ? strerror(errno) : text->count == 0 ? "is empty" : NULL;
    fclose(file);
    return error;
}

/* Adds the prediction to the score and returns the likeliest byte; next < 0: nothing to compare. */
static int judge(struct score *score, const float *logits, int next) {
    STINT_TIMER("judge");
    int likeliest = 0;
    for (int i = 0; i < MODEL_VOCAB; ++i) {
        uint32_t bits;
        memcpy(&bits, &logits[i], sizeof bits);
        score->checksum = (score->checksum ^ bits) * 0x100000001b3u;
        likeliest = logits[i] > logits[likeliest] ? i : likeliest;
    }
    if (next >= 0) {
        double sum = 0;
        for (int i = 0; i < MODEL_VOCAB; ++i) {
            sum += exp((double)logits[i] - (double)logits[likeliest]);
        }
        score->loss += log(sum) + (double)logits[likeliest] - (double)logits[next];
        score->hits += likeliest == next;
        ++score->predictions;
    }
    return likeliest;
}

static void generate(struct transformer_state *state, const struct text *text, int tokens,
                     struct score *score) {
    STINT_TIMER("generate");
    int token = text->byte[0];
    for (int i = 1; i <= tokens; ++i) {
        const int next = i < text->count ? text->byte[i] : -1;
        transformer_state_step(state, (unsigned char)token);
        token = judge(score, state->logits, next);
        if (next >= 0) {
            token = next;
        }
    }
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static void run(struct transformer_state *state, const struct text *text,
                const struct options *options) {
    struct score score = {.checksum = 0xcbf29ce484222325u};
    const double start = milliseconds();
    generate(state, text, options->tokens, &score);
    const double took = milliseconds() - start;
    printf("%d tokens of %s, %d layers of %d, %d heads, %d threads, slice by %s\n", options->tokens,
           options->path, MODEL_LAYERS, MODEL_DIM, MODEL_HEADS, options->threads,
           options->fixed ? "rows" : "elements");
    if (score.predictions > 0) {
        printf("mean negative log likelihood: %.6f, %d of %d bytes right\n",
               score.loss / score.predictions, score.hits, score.predictions);
    }
    printf("checksum: %016llx\n", (unsigned long long)score.checksum);
    printf("program's own clock: %.3f ms\n", took);
}

static int complain(const char *path, const char *error) {
    fprintf(stderr, "transformer: %s: %s\n", path, error);
    return 1;
}

int main(int argc, char **argv) {
    struct options options = {.tokens = 224, .threads = 2};
    if (parse(argc, argv, &options) != 0) {
        fprintf(stderr, "usage: transformer [--fixed] [--tokens 1..%d] [--threads 1..%d] FILE\n",
                MAX_TOKENS, MAX_THREADS);
        return 2;
    }
    struct text text;
    const char *error = read_text(options.path, &text, options.tokens);
    if (error != NULL) {
        return complain(options.path, error);
    }
    int status = 1;
    struct transformer_model model = {0};
    struct transformer_state state = {0};
    struct thread_pool *pool = thread_pool_create(options.threads);
    if (pool != NULL && transformer_model_make(&model, 288) == 0 &&
        transformer_state_make(&state, &model, pool, options.tokens) == 0) {
        state.slice_rows = options.fixed;
        run(&state, &text, &options);
        status = 0;
    } else {
        complain("cannot start", "out of memory or threads");
    }
    transformer_state_free(&state);
    transformer_model_free(&model);
    thread_pool_destroy(pool);
    fflush(stdout); /* the report goes to stderr: keep the order */
    STINT_FOR_TIMING((void)(getenv("STINT_REPORT") || stint_report("table,sort=self")));
    return status;
}
