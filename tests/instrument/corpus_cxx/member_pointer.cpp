/* SPDX-License-Identifier: Apache-2.0 */
/* Pointers to members. */
struct tool {
    int n = 4;
    int run(int m) {
        return n * m;
    }
};
extern "C" int corpus_member_pointer() {
    tool t;
    int (tool::*call)(int) = &tool::run;
    int tool::*member = &tool::n;
    t.*member += 1;
    return (t.*call)(2);
}
