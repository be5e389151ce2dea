/* SPDX-License-Identifier: Apache-2.0 */
/* switch over an enumeration. */
enum colour { RED, GREEN, BLUE };
static int choose(enum colour c) {
    switch (c) {
    case RED:
        return 1;
    case GREEN:
        return 2;
    case BLUE:
        return 3;
    }
    return 0;
}
int corpus_switch_enum(void) {
    return choose(RED) + choose(BLUE);
}
