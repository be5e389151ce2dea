/* SPDX-License-Identifier: Apache-2.0 */
/* Static variables of functions. */
static int made;
static int make() {
    made++;
    return 7;
}
static int get() {
    static int kept = make();
    static int plain = 1;
    plain++;
    return kept + plain;
}
extern "C" int corpus_local_static() {
    int sum = get();
    sum += get();
    return sum * 10 + made;
}
