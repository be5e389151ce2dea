/* SPDX-License-Identifier: Apache-2.0 */
/* A program that has a malloc of its own: it wins over that of any library. */
#include <stddef.h>

#include "stint/stint.h"

static char memory[1 << 20] __attribute__((aligned(16)));
static size_t used;

void *malloc(size_t size) {
    void *block = memory + used;
    used += (size + 31) / 16 * 16;
    return block;
}

void free(void *block) {
    (void)block;
}

int main(void) {
    REGISTER_TIMER("rival");
    void *volatile block = malloc(10);
    free(block);
    return 0;
}
