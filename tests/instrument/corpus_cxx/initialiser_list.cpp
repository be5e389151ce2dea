/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of initialisers and a constructor of one. */
#include <initializer_list>
struct total {
    int n = 0;
    total(std::initializer_list<int> values) {
        for (int v : values) {
            n += v;
        }
    }
};
extern "C" int corpus_initialiser_list() {
    total t = {1, 2, 3};
    int more[] = {
        4,
        5,
    };
    return t.n + more[1];
}
