/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

/* The archive alone calls this function. */
int own_helper(int n) {
    return n;
}

int main(void) {
    return own_outer(1) == 8 && own_step(1) == 3 ? 0 : 1;
}
