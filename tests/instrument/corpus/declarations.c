/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations with and without code. */
static int three(void) {
    return 3;
}
int corpus_declarations(void) {
    int a, b = 2, c = three();
    int array[] = {1, 2, 3};
    static int kept = 7;
    struct {
        int x, y;
    } point = {4, 5};
    typedef int number;
    number d = a = b;
    return a + b + c + d + array[1] + kept + point.y;
}
