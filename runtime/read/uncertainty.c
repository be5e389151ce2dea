/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error of a sum that was estimated from k samples is known from these samples only. Three
 * standard errors by the textbook are exceeded too often where they are few or skewed, so
 *
 * - one in k of what was not sampled is taken to be FLOOR_TIMES as long as the mean, and none of
 *   the k to show that;
 * - the error is widened as Student's distribution is at three errors;
 * - it is widened by the skewness of the sum, which is that of the samples over the root of k;
 * - with less than FREEDOM_LEAST samples, or a skewness over SKEWNESS_MOST, there is none: a
 *   few slow samples are most of the sum, and how many of these the others had is chance.
 *
 * The numbers are such that less than 0.5 % of the programs of uncertainty_test.c are off by more
 * than three errors. For a sum of several estimates k is Welch's and Satterthwaite's number.
 */
#include "uncertainty.h"

#include "base/arithmetic.h"
#include "deviation.h"

#define FLOOR_TIMES 7
#define FREEDOM_LEAST 20
#define SKEWNESS_MOST 0.5
#define SKEWNESS_PART 3

void uncertainty_add(struct uncertainty *to, const struct uncertainty *from) {
    to->variance += from->variance;
    to->squares += from->squares;
    to->cubes += from->cubes;
}

void uncertainty_of(struct uncertainty *out, const struct uncertain_sum *from) {
    double unseen = double_square(FLOOR_TIMES * from->others / from->looks);
    out->variance = from->variance + unseen;
    out->squares = double_square(out->variance) / from->samples;
    out->cubes = from->variance * deviation_root(from->variance / from->samples) * from->skewness;
}

/* At three errors, over three: the first terms of Cornish's and Fisher's series. */
static double student_widening(double freedom) {
    return 1 + 2.5 / freedom + 5.75 / double_square(freedom);
}

double uncertainty_error(const struct uncertainty *u) {
    if (!(u->variance > 0)) {
        return 0;
    }
    double error = deviation_root(u->variance);
    double freedom = double_square(u->variance) / u->squares;
    double skewness = u->cubes / (u->variance * error);
    if (!(freedom >= FREEDOM_LEAST) || !(skewness <= SKEWNESS_MOST)) {
        return -1;
    }
    return error * student_widening(freedom) * (1 + SKEWNESS_PART * skewness);
}
