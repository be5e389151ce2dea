/* SPDX-License-Identifier: Apache-2.0 */
/* Macros in the head of a function. */
#define LOCAL static
#define OF(x) x
#define CALLED
LOCAL int CALLED twice OF((int n));
LOCAL int CALLED twice(int n) {
    return n * 2;
}
int corpus_macro_type(void) {
    return twice(21);
}
