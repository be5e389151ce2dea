/* SPDX-License-Identifier: Apache-2.0 */
/* switch over an enumeration with a scope. */
enum class colour { red, green, blue };
static int code(colour c) {
    switch (c) {
    case colour::red:
        return 1;
    case colour::green: {
        int n = 2;
        return n;
    }
    default:
        break;
    }
    return 3;
}
extern "C" int corpus_switch_enum_class() {
    return code(colour::red) * 100 + code(colour::green) * 10 + code(colour::blue);
}
