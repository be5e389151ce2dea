/* SPDX-License-Identifier: Apache-2.0 */
/* A partial specialisation of a template of classes. */
template <class T> struct kind {
    static int get() {
        return 1;
    }
};
template <class T> struct kind<T *> {
    static int get() {
        return 2;
    }
};
template <> struct kind<char> {
    static int get() {
        return 3;
    }
};
extern "C" int corpus_template_partial() {
    return kind<int>::get() * 100 + kind<int *>::get() * 10 + kind<char>::get();
}
