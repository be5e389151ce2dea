/* SPDX-License-Identifier: Apache-2.0 */
/* try inside try, and in a loop. */
static int step(int n) {
    int s = 0;
    try {
        s++;
        try {
            if (n == 1) {
                throw 1;
            }
            s += 2;
        } catch (char) {
            s += 4;
        }
        s += 8;
    } catch (int) {
        s += 16;
    }
    return s;
}
extern "C" int corpus_nested_try() {
    int sum = 0;
    for (int i = 0; i < 2; i++)
        sum += step(i);
    return sum;
}
