/* SPDX-License-Identifier: Apache-2.0 */
/* Compound literals and designated initialisers. */
struct point {
    int x, y;
};
static int sum(const struct point *p) {
    return p->x + p->y;
}
int corpus_compound_literal(void) {
    struct point p = (struct point){1, 2};
    int s = sum(&(struct point){.x = 3, .y = 4});
    return s + sum(&p);
}
