/* SPDX-License-Identifier: Apache-2.0 */
/* Expression statements. */
int corpus_expression(void) {
    int a = 1;
    a++;
    a = a * 3 + 2;
    return a;
}
