/* SPDX-License-Identifier: Apache-2.0 */
/* A template with a pack of parameters. */
static int sum() {
    return 0;
}
template <class T, class... Rest> static int sum(T first, Rest... rest) {
    int more = sum(rest...);
    return first + more;
}
template <class... T> static int fold(T... t) {
    return (t + ... + 0);
}
extern "C" int corpus_template_variadic() {
    return sum(1, 2, 3) + fold(4, 5);
}
