/* SPDX-License-Identifier: Apache-2.0 */
/* Computed goto. */
int corpus_computed_goto(void) {
    static void *const steps[] = {&&one, &&two, &&done};
    int n = 0, at = 0;
    goto *steps[at++];
one:
    n += 1;
    goto *steps[at++];
two:
    n += 10;
    goto *steps[at++];
done:
    return n;
}
