/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libstint.so that libstint-mem.so calls. They have the version of the layout
 * (STINT_ABI), are not for programs, and are not in libstint.a.
 */
#ifndef STINT_MEMORY_CALLS_H
#define STINT_MEMORY_CALLS_H

#include "base/api.h"
#include "record/allocations.h"

#define stint_impl_memory_connect STINT_IMPL_ABI_NAME(stint_impl_memory_connect)
#define stint_impl_memory_scope STINT_IMPL_ABI_NAME(stint_impl_memory_scope)
#define stint_impl_memory_lose STINT_IMPL_ABI_NAME(stint_impl_memory_lose)

#define EXPORT_MEMORY __attribute__((visibility("default")))

/* As memory_connect and memory_scope_get (record/allocations.h). */
EXPORT_MEMORY extern void stint_impl_memory_connect(const struct memory_ops *ops);
EXPORT_MEMORY extern struct memory_scope *stint_impl_memory_scope(void);
/* So many blocks are not in the table: their ends will not be counted. */
EXPORT_MEMORY extern void stint_impl_memory_lose(uint64_t n);

#endif
