/* SPDX-License-Identifier: Apache-2.0 */
/* A template of methods in a class and in a template. */
struct sink {
    int total = 0;
    template <class T> void put(T t) {
        total += static_cast<int>(t);
    }
};
template <class A> struct pair_of {
    A a;
    template <class B> int with(B b) const {
        return a + b;
    }
};
extern "C" int corpus_template_method() {
    sink s;
    s.put(1);
    s.put(2.0);
    pair_of<int> p = {4};
    return s.total + p.with(1) + p.with('a');
}
