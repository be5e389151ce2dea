/* SPDX-License-Identifier: Apache-2.0 */
/* A label inside an if without braces. */
int corpus_label_bare(void) {
    int n = 0;
    if (n == 0)
    again:
        n++;
    if (n < 4)
        goto again;
    return n;
}
