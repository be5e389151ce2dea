/* SPDX-License-Identifier: Apache-2.0 */
/* goto and labels. */
int corpus_label_goto(void) {
    int n = 0;
again:
    n++;
    if (n < 5) {
        goto again;
    }
    goto out;
out:
    return n;
}
