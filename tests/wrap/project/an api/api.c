/* SPDX-License-Identifier: Apache-2.0 */
#include "api.h"

#include <errno.h>
#include <stdlib.h>

int api_open(const char *name) {
    return name[0];
}

int api_begin_(int x, int size) {
    return x * size;
}

struct api_pair api_swap(struct api_pair p, const struct api_pair *__restrict other) {
    struct api_pair q = {other->first, p.second};
    return q;
}

int api_each(const int values[], int count, api_callback call, void *data) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        sum += call(data, values[i]);
    }
    return sum;
}

int api_each_inline(int count, int (*call)(void *, int), void *data) {
    return call(data, count);
}

void (*api_handler(int which, void (*handler)(int)))(int) {
    return which ? handler : NULL;
}

int (*api_row(int (*rows)[3], int n))[3] {
    return rows + n;
}

int api_fail(int error) {
    errno = error;
    return -1;
}

int api_vprint(char *out, size_t size, const char *format, va_list arguments) {
    return vsnprintf(out, size, format, arguments);
}

int api_print(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out, size, format, arguments);
    va_end(arguments);
    return length;
}

void api_exit(int status) {
    exit(status);
}

void api_stop(void) {
    abort();
}

int api_twice(void) {
    return 0;
}

int api_old(int x) {
    return x;
}

int api_renamed(int x) {
    return x - 1;
}

const char *api_const(int x) {
    return x ? "yes" : "no";
}

int api_left_out(void) {
    return 5;
}
