/* SPDX-License-Identifier: Apache-2.0 */
/* Raw strings and digit separators. */
#include <cstring>
static const char *text() {
    return R"(if (x) { // "no code"
    }
)";
}
extern "C" int corpus_raw_string() {
    int n = 1'000;
    n += (int)std::strlen(text());
    return n;
}
