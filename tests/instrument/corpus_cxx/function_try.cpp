/* SPDX-License-Identifier: Apache-2.0 */
/* A try block as the body of a function is left out. */
static int checked(int n) try {
    if (n) {
        throw n;
    }
    return 1;
} catch (int m) {
    return m;
}
extern "C" int corpus_function_try() {
    return checked(0) + checked(4);
}
