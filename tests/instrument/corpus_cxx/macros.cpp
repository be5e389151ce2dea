/* SPDX-License-Identifier: Apache-2.0 */
/* Macros with statements, classes and loops. */
#define TRY(x)                                                                                     \
    do {                                                                                           \
        if (!(x))                                                                                  \
            return -1;                                                                             \
    } while (0)
#define GETTER(name)                                                                               \
    int get_##name() const {                                                                       \
        return name;                                                                               \
    }
struct record {
    int value;
    GETTER(value)
};
static int test(int n) {
    TRY(n > 1);
    return n;
}
extern "C" int corpus_macros() {
    record r = {test(4)};
    r.value += test(0);
    return r.get_value();
}
