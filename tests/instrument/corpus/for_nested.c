/* SPDX-License-Identifier: Apache-2.0 */
/* Nested loops without braces. */
int corpus_for_nested(void) {
    int s = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++)
            s += i * j;
    return s;
}
