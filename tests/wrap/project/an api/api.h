/* SPDX-License-Identifier: Apache-2.0 */
#ifndef API_H
#define API_H

#include <stdarg.h>
#include <stdio.h>

struct api_pair {
    int first;
    double second;
};
typedef int (*api_callback)(void *data, int value);

#ifdef API_WIDE
#define api_open api_open_v2
#endif
#define api_start(x) api_begin_((x), 4)

int api_open(const char *name);
int api_begin_(int x, int size);
struct api_pair api_swap(struct api_pair p, const struct api_pair *__restrict other);
int api_each(const int values[], int count, api_callback call, void *data);
int api_each_inline(int count, int (*call)(void *, int), void *data);
void (*api_handler(int which, void (*handler)(int)))(int);
int (*api_row(int (*rows)[3], int n))[3];
int api_fail(int error);
int api_vprint(char *out, size_t size, const char *format, va_list arguments);
int api_print(char *out, size_t size, const char *format, ...);
void api_exit(int status) __attribute__((noreturn));
_Noreturn void api_stop(void);
int api_twice(void) __attribute__((returns_twice));
int api_old();
int api_renamed(int x) __asm__("api_real_name");
static __inline__ int api_inline(int x) {
    return x + 1;
}
int api_anonymous(struct { int x; } * which);
const char *api_const(int x) __attribute__((const));
int api_left_out(void);
int api_missing(int x); /* declared, and defined nowhere */

#endif
