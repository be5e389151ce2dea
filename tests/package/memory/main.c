/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates 7 times 100 bytes in a scope. */
#include <stdlib.h>

#include <stint/stint.h>

int main(void) {
    REGISTER_TIMER("allocates");
    for (int i = 0; i < 7; ++i) {
        void *volatile block = malloc(100);
        free(block);
    }
    return 0;
}
