/* SPDX-License-Identifier: Apache-2.0 */
/* The comma operator. */
int corpus_comma(void) {
    int a, b;
    a = 1, b = 2;
    a = (b++, b + a);
    return a;
}
