/* SPDX-License-Identifier: Apache-2.0 */
/* __COUNTER__ has the values that it has without instrumenting. */
int corpus_counter(void) {
    int first = __COUNTER__;
    int second = __COUNTER__;
    return second - first + first * 100;
}
