/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that are not ASCII before statements. */
int corpus_utf8(void) {
    const char *text = "gr\u00fc\u00df"; /* äöü 日本 */ int n = 0;
    while (*text) { /* é */
        text++; /* é */ n++;
    }
    return n;
}
