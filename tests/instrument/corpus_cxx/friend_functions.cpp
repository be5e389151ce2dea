/* SPDX-License-Identifier: Apache-2.0 */
/* A friend that is defined in a class. */
class safe {
    int code_ = 5;
    friend int open_safe(const safe &s) {
        return s.code_;
    }
};
extern "C" int corpus_friend_functions() {
    safe s;
    return open_safe(s);
}
