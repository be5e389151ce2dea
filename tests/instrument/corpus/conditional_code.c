/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional compilation. */
#if defined(NEVER_DEFINED)
int corpus_conditional_code(void) {
    return 1;
}
#else
int corpus_conditional_code(void) {
    int n = 2;
#if 1
    n++;
#else
    n--;
#endif
    return n;
}
#endif
