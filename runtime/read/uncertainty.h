/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the sum of some estimates may be off. Each adds the moments of its own error; the
 * standard error is that of all of them together, so that many estimates that say little each may
 * say much.
 */
#ifndef STINT_UNCERTAINTY_H
#define STINT_UNCERTAINTY_H

/* All 0: exact. */
struct uncertainty {
    double variance;
    double squares; /* of each variance, over the number of samples that it follows from */
    double cubes;   /* third moments, without their signs */
};

/* A sum that is estimated from samples. */
struct uncertain_sum {
    /* May be fractions, where samples weigh differently: as many equal ones would tell as much. */
    double samples;  /* of the variance */
    double looks;    /* of the mean */
    double variance; /* of the sum, as the samples show it */
    double skewness; /* of the samples */
    double others;   /* of the sum, the part of all that is not a sample */
};

/* The errors of the two have nothing to do with each other. */
void uncertainty_add(struct uncertainty *to, const struct uncertainty *from);
void uncertainty_of(struct uncertainty *out, const struct uncertain_sum *from);
/* The standard error, such that the true value is within three of them: 0 if exact, -1 if the
 * samples are too few, or a few of them too large, to tell. */
double uncertainty_error(const struct uncertainty *u);

#endif
