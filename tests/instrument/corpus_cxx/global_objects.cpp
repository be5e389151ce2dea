/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that are made before main. */
static int order;
struct early {
    int n;
    early() : n(0) {
        order++;
        n = order;
    }
};
static early first;
static early second;
extern "C" int corpus_global_objects() {
    return first.n * 10 + second.n;
}
