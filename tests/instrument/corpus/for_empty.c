/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with an empty body. */
int corpus_for_empty(void) {
    int i;
    for (i = 0; i < 6; i++)
        ;
    for (i = 0; i < 6; i++) {
    }
    return i;
}
