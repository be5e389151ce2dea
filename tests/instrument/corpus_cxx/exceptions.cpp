/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions that are caught here, and in a caller. */
struct failure {
    int code;
};
static int check(int n) {
    if (n > 2) {
        throw failure{n};
    }
    return n;
}
static int through(int n) {
    int got = check(n);
    return got + 1;
}
extern "C" int corpus_exceptions() {
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        try {
            sum += through(i);
        } catch (const failure &f) {
            sum += f.code * 10;
        }
    }
    return sum;
}
