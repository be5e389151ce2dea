/* SPDX-License-Identifier: Apache-2.0 */
/* _Generic. */
#define KIND(x) _Generic((x), int: 1, double: 2, default: 3)
int corpus_generic(void) {
    int s = KIND(1);
    s += 10 * KIND(1.0);
    s += 100 * _Generic("x", char *: 4, default: 5);
    return s;
}
