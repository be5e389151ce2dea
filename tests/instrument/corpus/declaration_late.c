/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations after statements. */
int corpus_declaration_late(void) {
    int a = 1;
    a++;
    int b = a;
    b++;
    {
        int c = b;
        a += c;
    }
    return a + b;
}
