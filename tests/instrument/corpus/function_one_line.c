/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on one line. */
static int one(void) { return 1; }
static int two(void) { int a = one(); return a + one(); }
int corpus_function_one_line(void) {
    return one() + two();
}
