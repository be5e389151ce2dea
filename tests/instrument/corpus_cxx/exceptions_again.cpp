/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions that are thrown again; several handlers. */
static int inner(int n) {
    try {
        if (n == 1) {
            throw 1;
        }
        if (n == 2) {
            throw 'a';
        }
    } catch (int) {
        throw;
    } catch (...) {
        return 7;
    }
    return n;
}
extern "C" int corpus_exceptions_again() {
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        try {
            sum += inner(i);
        } catch (int n) {
            sum += n * 100;
        }
    }
    return sum;
}
