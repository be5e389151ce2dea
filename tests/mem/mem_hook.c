/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator below libstint-mem.so that opens scopes itself, and allocates while it does. */
#include <dlfcn.h>
#include <stddef.h>

#include "stint/stint.h"

extern void *__libc_malloc(size_t size); /* of glibc: dlsym would allocate */

void *malloc(size_t size) {
    REGISTER_TIMER("hook");
    return __libc_malloc(size);
}
