/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without statements. */
static void nothing(void) {
}
static void nothing_here(void) {}
int corpus_empty_function(void) {
    nothing();
    nothing_here();
    return 0;
}
