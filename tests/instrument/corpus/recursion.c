/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion. */
static int fibonacci(int n) {
    if (n < 2) {
        return n;
    }
    return fibonacci(n - 1) + fibonacci(n - 2);
}
int corpus_recursion(void) {
    return fibonacci(10);
}
