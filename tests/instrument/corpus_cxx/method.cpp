/* SPDX-License-Identifier: Apache-2.0 */
/* Methods, in the class and after it. */
struct counter {
    int value;
    int get() const {
        return value;
    }
    void add(int n);
    static int twice(int n) {
        return n * 2;
    }
};
void counter::add(int n) {
    value += n;
}
extern "C" int corpus_method() {
    counter c = {1};
    c.add(3);
    c.add(counter::twice(4));
    return c.get();
}
