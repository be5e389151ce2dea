/* SPDX-License-Identifier: Apache-2.0 */
/* Results in braces, and none. */
struct three {
    int a;
    int b;
    int c;
};
static three make(int n) {
    if (n < 0) {
        return {};
    }
    return {n, n, n};
}
static void set(int &n) {
    if (n > 2) {
        n = 0;
        return;
    }
    n = 5;
}
extern "C" int corpus_return_braces() {
    int n = 1;
    set(n);
    set(n);
    return make(-1).a + make(2).c + n;
}
