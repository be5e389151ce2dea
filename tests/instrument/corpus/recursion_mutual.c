/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that call each other. */
static int odd(int n);
static int even(int n) {
    if (n == 0)
        return 1;
    return odd(n - 1);
}
static int odd(int n) {
    if (n == 0)
        return 0;
    return even(n - 1);
}
int corpus_recursion_mutual(void) {
    return even(10) + odd(7);
}
