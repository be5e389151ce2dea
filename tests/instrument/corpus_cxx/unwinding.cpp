/* SPDX-License-Identifier: Apache-2.0 */
/* Destructors that an exception runs. */
static int closed;
struct guard {
    ~guard() {
        closed++;
    }
};
static void fail(int n) {
    guard g;
    if (n) {
        throw n;
    }
}
extern "C" int corpus_unwinding() {
    int caught = 0;
    fail(0);
    try {
        guard g;
        fail(3);
        caught = 100;
    } catch (int n) {
        caught += n;
    }
    return caught * 10 + closed;
}
