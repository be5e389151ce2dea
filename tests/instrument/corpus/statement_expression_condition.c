/* SPDX-License-Identifier: Apache-2.0 */
/* Statement expressions as conditions. */
int corpus_statement_expression_condition(void) {
    int n = 0;
    while (({ int limit = 5; n < limit; })) {
        n += 2;
    }
    if (({ n > 3; })) {
        n++;
    }
    return n;
}
