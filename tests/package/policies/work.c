/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

int work(int n) {
    return n + 1;
}
