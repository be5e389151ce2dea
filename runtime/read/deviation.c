/* SPDX-License-Identifier: Apache-2.0 */
#include "deviation.h"

/* Newton's method from above: the values fall until rounding stops them. */
double deviation_root(double v) {
    if (!(v > 0)) {
        return 0;
    }
    double x = v > 1 ? v : 1;
    double next = (x + v / x) / 2;
    while (next < x) {
        x = next;
        next = (x + v / x) / 2;
    }
    return x;
}
