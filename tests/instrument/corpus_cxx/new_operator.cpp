/* SPDX-License-Identifier: Apache-2.0 */
/* Operators new and delete of a class. */
#include <cstdlib>
struct pooled {
    int n = 2;
    static void *operator new(std::size_t size) {
        return std::malloc(size);
    }
    static void operator delete(void *p) {
        std::free(p);
    }
};
extern "C" int corpus_new_operator() {
    pooled *p = new pooled;
    int n = p->n;
    delete p;
    return n;
}
