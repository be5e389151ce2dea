/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that return structures. */
struct pair {
    int a, b;
};
static struct pair make(int n) {
    if (n)
        return (struct pair){n, n + 1};
    struct pair p = {0, 0};
    return p;
}
int corpus_struct_result(void) {
    return make(3).b + make(0).a;
}
