/* SPDX-License-Identifier: Apache-2.0 */
/* An else belongs to the nearest if, also when a marker is between. */
static int choose(int a, int b) {
    int r = 0;
    if (a) {
        if (b)
            r = 1;
        else
            r = 2;
    }
    if (a)
        for (int i = 0; i < 2; i++)
            if (b)
                r += 4;
            else
                r += 8;
    else
        r += 16;
    return r;
}
int corpus_dangling_else(void) {
    return choose(0, 0) + choose(0, 1) * 3 + choose(1, 0) * 5 + choose(1, 1) * 7;
}
