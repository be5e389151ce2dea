/* SPDX-License-Identifier: Apache-2.0 */
/* Names that hide others. */
struct self {};
static int value = 1;
extern "C" int corpus_local_names() {
    int cells = 2;
    int last = 3;
    int value = 4;
    {
        int value = 5;
        cells += value;
    }
    struct stint_impl {
        int n;
    } book = {6};
    return cells + last + value + ::value + book.n;
}
