/* SPDX-License-Identifier: Apache-2.0 */
/* Names that hide others. */
int corpus_local_names(void) {
    int n = 1;
    {
        int n = 2;
        {
            int n = 3;
            (void)n;
        }
        (void)n;
    }
    return n;
}
