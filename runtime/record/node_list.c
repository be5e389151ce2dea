/* SPDX-License-Identifier: Apache-2.0 */
#include "node_list.h"

#include <stddef.h>

#include "base/scratch.h"
#include "stint/detail/impl_layout.h"

/* No two nodes begin in the same so many units. */
#define UNITS_A_WORD ((uint32_t)sizeof(struct stint_impl_node) / STINT_IMPL_UNIT)
/* The words come in pieces, and not for the whole arena at once, which mlockall would fill. */
#define LIST_WORDS 4096u
#define LIST_BYTES (LIST_WORDS * sizeof(uint32_t))
#define LIST_PIECES ((1u << STINT_IMPL_NODE_BITS) / UNITS_A_WORD / LIST_WORDS + 1)

static struct {
    uint32_t *piece[LIST_PIECES]; /* the thread that made the first node there; release */
    uint32_t newest;              /* any thread; release */
    uint32_t failed;              /* any thread, relaxed */
} made;

/* NULL: it has none yet. */
static uint32_t *word_find(uint32_t unit) {
    uint32_t number = unit / UNITS_A_WORD;
    uint32_t *piece = __atomic_load_n(&made.piece[number / LIST_WORDS], __ATOMIC_ACQUIRE);
    return piece ? &piece[number % LIST_WORDS] : NULL;
}

/* NULL without memory. */
static uint32_t *word_get(uint32_t unit) {
    uint32_t *word = word_find(unit), *none = NULL;
    if (word) {
        return word;
    }
    uint32_t *piece = pages_get(LIST_BYTES);
    if (piece && !__atomic_compare_exchange_n(&made.piece[unit / UNITS_A_WORD / LIST_WORDS], &none,
                                              piece, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        pages_put(piece, LIST_BYTES); /* another thread's is there */
    }
    return word_find(unit);
}

void node_list_add(uint32_t unit) {
    uint32_t *word = word_get(unit);
    if (!word) {
        STINT_IMPL_STORE(&made.failed, 1);
        return;
    }
    uint32_t newest = STINT_IMPL_LOAD(&made.newest);
    do {
        STINT_IMPL_STORE(word, newest);
    } while (!__atomic_compare_exchange_n(&made.newest, &newest, unit, 1, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

int node_list_take(uint32_t *newest) {
    *newest = __atomic_exchange_n(&made.newest, 0, __ATOMIC_ACQUIRE);
    return STINT_IMPL_LOAD(&made.failed) ? -1 : 0;
}

uint32_t *node_list_word(uint32_t unit) {
    return word_find(unit);
}

void node_list_forget(void) {
    for (uint32_t i = 0; i < LIST_PIECES; ++i) {
        if (made.piece[i]) {
            pages_put(made.piece[i], LIST_BYTES);
            made.piece[i] = NULL;
        }
    }
    made.newest = 0;
    made.failed = 0;
}
