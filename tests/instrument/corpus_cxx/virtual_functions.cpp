/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual functions, overridden and pure. */
struct shape {
    virtual int area() const = 0;
    virtual int sides() const {
        return 0;
    }
    virtual ~shape() {}
};
struct square : shape {
    int side;
    explicit square(int n) : side(n) {}
    int area() const final {
        return side * side;
    }
    int sides() const override {
        return shape::sides() + 4;
    }
};
extern "C" int corpus_virtual_functions() {
    square s(3);
    const shape &base = s;
    return base.area() * 10 + base.sides();
}
