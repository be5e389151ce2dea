/* SPDX-License-Identifier: Apache-2.0 */
/* Lambdas are part of the line that has them. */
template <class F> static int apply(F call, int n) {
    int got = call(n);
    return got;
}
extern "C" int corpus_lambda() {
    int base = 5;
    int sum = apply([&](int n) { return base + n; }, 1);
    sum += apply([](int n) { return n; }, 2);
    return sum;
}
