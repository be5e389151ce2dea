/* SPDX-License-Identifier: Apache-2.0 */
/* Computed goto with labels that a macro makes. */
#define CASE(l) L_##l:
#define NEXT goto next
static int run(const char *p) {
    static const void *const table[3] = {&&L_END, &&L_ADD, &&L_MUL};
    int n = 0;
    for (;;) {
        goto *table[p[0] == 0 ? 0 : p[0] == '+' ? 1 : 2];
        CASE(ADD) {
            n += 1;
            NEXT;
        }
        CASE(MUL) {
            n *= 3;
            NEXT;
        }
        CASE(END) return n;
    next:
        p++;
    }
}
int corpus_macro_goto_label(void) {
    return run("+*+*+*++");
}
