/* SPDX-License-Identifier: Apache-2.0 */
/* Calls by pointer; addresses are compared. */
static int plus(int n) {
    return n + 1;
}
static int minus(int n) {
    return n - 1;
}
int corpus_function_pointer(void) {
    int (*steps[])(int) = {plus, minus, plus};
    int n = 0;
    for (int i = 0; i < 3; i++) {
        n = steps[i](n);
    }
    return n + (steps[0] == plus);
}
