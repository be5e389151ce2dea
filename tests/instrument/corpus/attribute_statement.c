/* SPDX-License-Identifier: Apache-2.0 */
/* A statement that is an attribute. */
static int choose(int n) {
    switch (n) {
    case 0:
        n = 5;
        __attribute__((fallthrough));
    case 1:
        n++;
        break;
    default:
        break;
    }
    return n;
}
int corpus_attribute_statement(void) {
    return choose(0) + choose(1) + choose(2);
}
