/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations in a switch that it jumps over. */
static int choose(int n) {
    switch (n) {
        int unset;
    case 0:
        unset = 3;
        return unset;
    case 1: {
        int set = 4;
        return set;
    }
    }
    return n;
}
int corpus_switch_declaration(void) {
    return choose(0) + choose(1) + choose(2);
}
