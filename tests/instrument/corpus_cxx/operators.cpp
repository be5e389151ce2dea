/* SPDX-License-Identifier: Apache-2.0 */
/* Overloaded operators. */
struct number {
    int n;
    number operator+(const number &other) const {
        return {n + other.n};
    }
    number &operator+=(int m) {
        n += m;
        return *this;
    }
    int operator[](int i) const {
        return n * i;
    }
    int operator()(int a, int b) const {
        return n + a * b;
    }
    explicit operator bool() const {
        return n != 0;
    }
    operator int() const {
        return n;
    }
    number &operator++() {
        ++n;
        return *this;
    }
};
static bool operator==(const number &a, const number &b) {
    return a.n == b.n;
}
extern "C" int corpus_operators() {
    number a = {1};
    number b = {2};
    number c = a + b;
    c += 4;
    ++c;
    if (c == a) {
        return -1;
    }
    if (!c) {
        return -2;
    }
    return c[2] + c(3, 4) + static_cast<int>(c);
}
