/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard deviations, without the mathematics library.
 */
#ifndef STINT_DEVIATION_H
#define STINT_DEVIATION_H

/* The square root; 0 for a negative number. */
double deviation_root(double v);

#endif
