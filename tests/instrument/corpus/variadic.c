/* SPDX-License-Identifier: Apache-2.0 */
/* Variable arguments. */
#include <stdarg.h>
static int sum(int n, ...) {
    va_list list;
    int s = 0;
    va_start(list, n);
    while (n-- > 0) {
        s += va_arg(list, int);
    }
    va_end(list);
    return s;
}
int corpus_variadic(void) {
    return sum(3, 10, 20, 30);
}
