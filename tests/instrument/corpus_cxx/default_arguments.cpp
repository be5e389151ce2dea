/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments with defaults that are calls. */
static int calls;
static int next() {
    calls++;
    return calls;
}
static int add(int a, int b = next()) {
    return a + b;
}
extern "C" int corpus_default_arguments() {
    int sum = add(10);
    sum += add(20, 5);
    sum += add(30);
    return sum;
}
