/* SPDX-License-Identifier: Apache-2.0 */
/* A class in a function. */
extern "C" int corpus_local_class() {
    struct box {
        int n;
    };
    box b = {3};
    b.n++;
    return b.n;
}
