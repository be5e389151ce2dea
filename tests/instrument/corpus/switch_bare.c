/* SPDX-License-Identifier: Apache-2.0 */
/* A switch without braces. */
static int choose(int n) {
    switch (n)
    case 3:
        n = 30;
    switch (n)
    default:
        n++;
    return n;
}
int corpus_switch_bare(void) {
    return choose(3) + choose(4);
}
