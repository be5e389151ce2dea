/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where API calls were made: the scope, thread, source line and time of each, by correlation
 * number.
 *
 * Implementation notes
 * - A slot is four words, each with enough bits of the correlation number to identify its call: a
 *   thread may write while another one reads, or writes for a number 65 536 away, and a word of
 * another call is recognised.
 * - A look-up does not remove the entry: all nodes of a graph have their launch's number.
 */
#include "activity_private.h"

#include <stddef.h>

#include "activity.h"
#include "base/scratch.h"
#include "record/line_book.h"
#include "record/thread.h"

#define SLOTS 65536u
#define SLOTS_BYTES ((size_t)SLOTS * sizeof(struct launch_slot))
/* Bits of a time or a unit; those above are the upper half of the number, whose lower half is the
 * slot's index. */
#define LOW 48
#define LOW_MASK (((uint64_t)1 << LOW) - 1)

/* Written by any thread, relaxed. Initially 0, as is correlation number 0, which no call has. */
struct launch_slot {
    uint64_t node;   /* number << 32 | units */
    uint64_t ticks;  /* upper half of the number << 48 | ticks, cut */
    uint64_t thread; /* upper half << 48 | units */
    uint64_t line;   /* upper half << 48 | lines_here() */
};

static struct launch_slot *slots; /* NULL while it is not open; release, acquire */
/* Never freed: in the child of a fork by a signal handler the interrupted code may still write
 * there. */
static struct launch_slot *pages;
static uint64_t now;       /* ticks, of a moment ago; under the activity lock */
static uint64_t opened_at; /* ticks, of the latest activity_open; likewise */

void activity_launch_now(uint64_t ticks) {
    now = ticks;
}

void activity_launch_begin(uint64_t ticks) {
    opened_at = ticks;
}

int activity_launch_is_old(uint32_t correlation) {
    struct activity_origin from = {0};
    if (slots) {
        activity_launch_find(correlation, &from);
    }
    return from.ticks && from.ticks < opened_at;
}

int activity_launch_open(void) {
    if (pages) {
        pages_renew(pages, SLOTS_BYTES);
    } else {
        pages = pages_get(SLOTS_BYTES);
    }
    __atomic_store_n(&slots, pages, __ATOMIC_RELEASE);
    if (!pages) {
        return -1;
    }
    return 0;
}

void activity_launch_forget(void) {
    __atomic_store_n(&slots, NULL, __ATOMIC_RELEASE);
}

void activity_launch(uint32_t correlation) {
    struct launch_slot *table = __atomic_load_n(&slots, __ATOMIC_ACQUIRE);
    if (!table || !correlation) {
        return;
    }
    const struct thread_block *b = thread_block_here();
    uint32_t node = 0, thread = 0;
    uint64_t line = 0;
    if (b) {
        const struct stint_impl_frame *f = thread_innermost(b);
        if (f) {
            uint32_t recursive = STINT_IMPL_LOAD(&f->recursive);
            node = recursive ? recursive : STINT_IMPL_LOAD(&f->node);
        }
        thread = (uint32_t)((size_t)((char *)b->record - b->hot.base) / STINT_IMPL_UNIT);
        line = lines_here(b);
    }
    struct launch_slot *s = &table[correlation % SLOTS];
    uint64_t upper = (uint64_t)(correlation >> 16) << LOW;
    STINT_IMPL_STORE(&s->thread, upper | thread);
    STINT_IMPL_STORE(&s->line, upper | (line & LOW_MASK));
    STINT_IMPL_STORE(&s->ticks, upper | (clock_ticks() & LOW_MASK));
    STINT_IMPL_STORE(&s->node, (uint64_t)correlation << 32 | node);
}

static uint64_t activity_launch_get_low(const uint64_t *word, uint32_t correlation) {
    uint64_t w = STINT_IMPL_LOAD(word);
    if (w >> LOW != correlation >> 16) {
        return 0;
    }
    return w & LOW_MASK;
}

/* The time nearest to now that has those lower bits. */
static uint64_t activity_launch_extend(uint64_t low) {
    uint64_t half = (uint64_t)1 << (LOW - 1), whole = (now & ~LOW_MASK) | low;
    if (whole > now + half && whole > LOW_MASK) {
        whole -= LOW_MASK + 1;
    } else if (whole + half < now) {
        whole += LOW_MASK + 1;
    }
    return whole;
}

void activity_launch_find(uint32_t correlation, struct activity_origin *out) {
    const struct launch_slot *s = &slots[correlation % SLOTS];
    uint64_t node = STINT_IMPL_LOAD(&s->node);
    *out = (struct activity_origin){.known = correlation && node >> 32 == correlation};
    if (out->known) {
        uint64_t low = activity_launch_get_low(&s->ticks, correlation);
        out->node = (uint32_t)node;
        out->thread = (uint32_t)activity_launch_get_low(&s->thread, correlation);
        out->line = activity_launch_get_low(&s->line, correlation);
        if (low) {
            out->ticks = activity_launch_extend(low);
        }
    }
}
