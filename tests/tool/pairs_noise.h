/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Simulated pairs of runs with a fixed seed, for pairs_test.c and pairs_power.c: normal noise of a
 * quiet machine, or that of a busy one, where a run is sometimes disturbed and the machine's speed
 * drifts and is the same for both runs of a pair.
 */
#ifndef STINT_TESTS_PAIRS_NOISE_H
#define STINT_TESTS_PAIRS_NOISE_H

#include <math.h>
#include <stdint.h>

#define NOISE_SCOPES 20u
#define NOISE_PAIRS 50u

struct noise {
    uint64_t random;
    double run;    /* standard deviation of a run, logarithm */
    int disturbed; /* one run in twelve takes up to half as long again */
    double speed;  /* of the machine now */
    double change; /* of scope 0 on side 1, logarithm */
};

static inline double noise_uniform(struct noise *n) {
    n->random = n->random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (double)(n->random >> 11) / 9007199254740992.0;
}

/* A sum of twelve is as normal as a test needs. */
static inline double noise_normal(struct noise *n) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        sum += noise_uniform(n);
    }
    return sum;
}

/* The logarithms of the times of a run's scopes. Half of the noise is the run's own. */
static inline void noise_run(struct noise *n, int side, double out[NOISE_SCOPES]) {
    double whole = n->run * noise_normal(n) * sqrt(0.5);
    if (n->disturbed && noise_uniform(n) < 1.0 / 12) {
        whole += 0.4 * noise_uniform(n);
    }
    for (uint32_t i = 0; i < NOISE_SCOPES; ++i) {
        out[i] = n->speed + whole + n->run * noise_normal(n) * sqrt(0.5);
    }
    if (side) {
        out[0] += n->change;
    }
}

/* The changes of a pair, B - A, in random order of the two runs. */
static inline void noise_pair(struct noise *n, double out[NOISE_SCOPES]) {
    double time[2][NOISE_SCOPES];
    int first = noise_uniform(n) < 0.5;
    noise_run(n, first, time[first]);
    if (n->disturbed) {
        n->speed += 0.01 * noise_normal(n);
    }
    noise_run(n, !first, time[!first]);
    for (uint32_t i = 0; i < NOISE_SCOPES; ++i) {
        out[i] = time[1][i] - time[0][i];
    }
}

/* The result of a comparison of 20 scopes by up to `budget` pairs. */
struct noise_result {
    uint32_t pairs;
    uint32_t slower;    /* scopes, besides number 0 */
    uint32_t faster;    /* the same */
    uint32_t undecided; /* the same */
    int verdict;        /* enum pairs_verdict of scope 0 */
};

/* Looks at the pairs so far, as `stint ab` does. */
static inline void noise_judge(struct noise_result *r, double (*change)[NOISE_PAIRS],
                               uint32_t scopes, double least, double alpha) {
    r->slower = r->faster = r->undecided = 0;
    for (uint32_t i = 0; i < scopes; ++i) {
        struct pairs_interval interval;
        pairs_compare(&interval, change[i], r->pairs, alpha / scopes, 0);
        enum pairs_verdict v = pairs_verdict(&interval, log1p(least));
        if (i == 0) {
            r->verdict = (int)v;
            continue;
        }
        r->slower += v == PAIRS_SLOWER;
        r->faster += v == PAIRS_FASTER;
        r->undecided += v == PAIRS_UNDECIDED;
    }
}

static inline int noise_is_decided(const struct noise_result *r) {
    return !r->undecided && r->verdict != PAIRS_UNDECIDED;
}

static inline void noise_compare(struct noise_result *r, struct noise *n, uint32_t budget,
                                 double least, double alpha) {
    static double change[NOISE_SCOPES][NOISE_PAIRS];
    for (r->pairs = 0; r->pairs < budget;) {
        double pair[NOISE_SCOPES];
        noise_pair(n, pair);
        for (uint32_t i = 0; i < NOISE_SCOPES; ++i) {
            change[i][r->pairs] = pair[i];
        }
        ++r->pairs;
        noise_judge(r, change, NOISE_SCOPES, least, alpha);
        if (noise_is_decided(r)) {
            return;
        }
    }
}

#endif
