/* SPDX-License-Identifier: Apache-2.0 */
/* A template of functions with several instances. */
template <class T> static T largest(const T *values, int count) {
    T best = values[0];
    for (int i = 1; i < count; i++) {
        if (best < values[i]) {
            best = values[i];
        }
    }
    return best;
}
extern "C" int corpus_function_template() {
    int whole[] = {1, 5, 3};
    double real[] = {2.5, 1.5};
    int n = largest(whole, 3);
    n += static_cast<int>(largest(real, 2));
    return n;
}
