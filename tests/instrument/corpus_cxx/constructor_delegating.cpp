/* SPDX-License-Identifier: Apache-2.0 */
/* A constructor that calls another one. */
struct point {
    int x;
    int y;
    point(int a, int b) : x(a), y(b) {
        x++;
    }
    point() : point(4, 5) {
        y++;
    }
};
extern "C" int corpus_constructor_delegating() {
    point p;
    return p.x * 10 + p.y;
}
