/* SPDX-License-Identifier: Apache-2.0 */
#include "own.h"

int own_inner(int n) {
    return own_helper(n) * 2;
}
