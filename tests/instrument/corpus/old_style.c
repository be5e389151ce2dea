/* SPDX-License-Identifier: Apache-2.0 */
/* A definition in the style of K&R. */
static int add(a, b)
int a;
int b;
{
    int sum;
    sum = a + b;
    return sum;
}
int corpus_old_style(void) {
    return add(1, 2);
}
