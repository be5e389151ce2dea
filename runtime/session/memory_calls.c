/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_calls.h"

#include "arena/arena.h"

#ifndef STINT_STATIC
void stint_impl_memory_connect(const struct memory_ops *ops) {
    memory_connect(ops);
}

struct memory_scope *stint_impl_memory_scope(void) {
    return memory_scope_get();
}

void stint_impl_memory_lose(uint64_t n) {
    arena_lose(STINT_STATUS_BLOCKS_LOST, n);
}
#endif
