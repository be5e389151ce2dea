/* SPDX-License-Identifier: Apache-2.0 */
/* A specialisation of a template, and one that is never used. */
template <class T> static int size_class(T) {
    return 1;
}
template <> int size_class(double) {
    return 2;
}
template <class T> static int never(T t) {
    int n = t;
    return n;
}
extern "C" int corpus_template_specialised() {
    return size_class(1) * 10 + size_class(1.0);
}
