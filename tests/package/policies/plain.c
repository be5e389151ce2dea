/* SPDX-License-Identifier: Apache-2.0 */
#include "work.h"

int main(void) {
    int sum = 0;
    for (int i = 0; i < 3; ++i) {
        sum += work(i);
    }
    return sum != 6;
}
