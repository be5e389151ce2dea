/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are not used. */
static __attribute__((noinline)) int value(void) {
    return 3;
}
int corpus_unused_result(void) {
    (void)value();
    value();
    return value();
}
