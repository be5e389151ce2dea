/* SPDX-License-Identifier: Apache-2.0 */
/* Calls each function, prints what comes back; the test compares with the program without
 * timers. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "api.h"

static int add_value(void *data, int value) {
    *(int *)data += value;
    return value;
}

static void take_signal(int number) {
    printf("handler %d\n", number);
}

static int print_list(char *out, size_t size, const char *format, ...) {
    int length;
    va_list arguments;
    va_start(arguments, format);
    length = api_vprint(out, size, format, arguments);
    va_end(arguments);
    return length;
}

int main(void) {
    char text[40];
    int values[3] = {1, 2, 3}, rows[2][3] = {{1, 2, 3}, {4, 5, 6}}, sum = 0;
    struct api_pair p = {1, 2.5}, other = {7, 0}, q;
    /* First, so that the timer's slow path has had every chance to change errno. */
    errno = 0;
    printf("fail %d", api_fail(ERANGE));
    printf(" %d\n", errno == ERANGE);
    printf("open %d\n", api_open("x"));
    printf("start %d\n", api_start(3));
    q = api_swap(p, &other);
    printf("swap %d %g\n", q.first, q.second);
    printf("each %d", api_each(values, 3, add_value, &sum));
    printf(" %d\n", api_each_inline(10, add_value, &sum) + sum);
    api_handler(1, take_signal)(4);
    printf("row %d\n", (*api_row(rows, 1))[2]);
    printf("vprint %d", print_list(text, sizeof text, "%d-%s-%g", 1, "two", 3.5));
    printf(" %s\n", text);
    printf("print %d %s\n", api_print(text, sizeof text, "%d", 12), text);
    printf("renamed %d inline %d\n", api_renamed(5), api_inline(5));
    printf("const %s %s\n", api_const(1), api_const(0));
    printf("left out %d old %d\n", api_left_out(), api_old(6));
    return 0;
}
