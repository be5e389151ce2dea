/* SPDX-License-Identifier: Apache-2.0 */
/* goto and labels. */
extern "C" int corpus_goto_label() {
    int n = 0;
again:
    n++;
    if (n < 3) {
        goto again;
    }
    goto done;
done:
    return n;
}
