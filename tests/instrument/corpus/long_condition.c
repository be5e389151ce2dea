/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions over several lines. */
static int is_word(int c) {
    return (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') ||
           c == '_';
}
int corpus_long_condition(void) {
    const char *text = "aB_ 1";
    int n = 0;
    for (; *text; text++) {
        if (is_word(*text) &&
            *text != 'a') {
            n++;
        }
    }
    return n;
}
