/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of one name. */
static int size(int) {
    return 1;
}
static int size(double) {
    return 2;
}
static int size(const char *, int n = 3) {
    return n;
}
extern "C" int corpus_overloads() {
    return size(1) * 100 + size(1.0) * 10 + size("a");
}
