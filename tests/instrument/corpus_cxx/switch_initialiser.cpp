/* SPDX-License-Identifier: Apache-2.0 */
/* switch with an initialiser. */
static int get(int n) {
    return n % 3;
}
extern "C" int corpus_switch_initialiser() {
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        switch (int n = get(i); n) {
        case 0:
            sum += 1;
            break;
        case 1:
            sum += 10;
            [[fallthrough]];
        default:
            sum += 100;
        }
    }
    return sum;
}
