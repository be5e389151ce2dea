/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors and destructors, with and without lists of initialisers. */
static int alive;
struct base {
    base() {
        alive++;
    }
    virtual ~base() {
        alive--;
    }
};
struct derived : base {
    int first;
    int second;
    explicit derived(int n) : first(n), second(n + 1) {
        first += second;
    }
    ~derived() override {
        first = 0;
    }
};
static int make(int n) {
    derived d(n);
    return d.first + alive;
}
extern "C" int corpus_constructor() {
    int sum = make(2);
    base *b = new derived(3);
    delete b;
    return sum + alive;
}
