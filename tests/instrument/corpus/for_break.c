/* SPDX-License-Identifier: Apache-2.0 */
/* break and continue with braces. */
int corpus_for_break(void) {
    int s = 0;
    for (int i = 0; i < 100; i++) {
        if (i == 5) {
            break;
        }
        if (i % 2) {
            continue;
        }
        s += i;
    }
    return s;
}
