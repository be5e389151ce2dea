/* SPDX-License-Identifier: Apache-2.0 */
/* Does not know stint. */
#include <cstdio>

struct box {
    int sum = 0;
    void add(int n) {
        sum += n;
    }
    int get() const;
};

int box::get() const {
    return sum;
}

template <class T> static T twice(T t) {
    return t + t;
}

int main() {
    box b;
    for (int i = 1; i <= 3; ++i) {
        b.add(twice(i));
    }
    std::printf("calls=%d\n", b.get());
}
