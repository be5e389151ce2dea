/* SPDX-License-Identifier: Apache-2.0 */
/* Words in place of operators. */
static int test(int a, int b) {
    if (a and not b) {
        return 1;
    }
    if (a or b) {
        return a bitor b;
    }
    return 0;
}
extern "C" int corpus_alternative_tokens() {
    return test(1, 0) + test(2, 1) * 10 + test(0, 0) * 100;
}
