/* SPDX-License-Identifier: Apache-2.0 */
/* Statement expressions. */
int corpus_statement_expression(void) {
    int n = 3;
    int m = ({
        int q = n;
        q += 2;
        q;
    });
    m += ({ int q = m; q * 2; });
    return m;
}
