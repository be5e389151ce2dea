/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A file is known by its name, its content, its line numbers and their count, not by its address,
 *   where a library that was loaded since may have another one. The arena has a copy of them.
 * - A book belongs to the place of a thread, which belongs to the record of the thread in the
 *   arena. A thread that continues a record continues its place and its books.
 * - Without the processor's counter as the clock nothing is recorded: a marker reads no other
 *   clock.
 */
#include "line_book.h"

#include <string.h>

#include "arena/arena.h"
#include "base/errno_keep.h"
#include "base/hash.h"
#include "base/scratch.h"
#include "registry.h"
#include "system/clock.h"
#include "system/config.h"
#include "system/log.h"
#include "thread.h"

/* The cells of one file for one thread. `table` is 0 where the arena has no room. */
struct line_book {
    struct stint_impl_lines_book hot; /* first: instrumented code points here */
    uint64_t file;                    /* file_hash */
    uint32_t table;                   /* units */
    struct line_book *next;
};

struct line_place {
    struct stint_impl_lines_thread hot;
    struct stint_impl_line_cell outside; /* is current outside of instrumented functions */
    const struct arena_thread *record;
    struct line_book *books;
    struct line_place *next;
};

/* Guarded by the registry's lock. */
static struct line_place *places;
/* Books and places are cut from it. */
static struct scratch lines_memory;
static int clock_was_named;

/* Threads that record nothing count here. */
static struct stint_impl_line_cell no_line;
static struct stint_impl_lines_thread no_place = {0, &no_line, 0};
static struct stint_impl_lines_book no_book = {NULL, &no_place, STINT_IMPL_SHUT, 0};

static uint64_t file_hash(const struct stint_impl_lines_file *file) {
    uint64_t h = hash_bytes(file->name, strlen(file->name));
    if (file->content) {
        h = hash_add(h, hash_bytes(file->content, strlen(file->content)));
    }
    return hash_add(h, hash_bytes((const char *)file->lines, file->count * sizeof *file->lines));
}

static struct line_place *place_of(const struct arena_thread *record) {
    struct line_place *p = places;
    while (p && p->record != record) {
        p = p->next;
    }
    if (!p) {
        p = scratch_get(&lines_memory, sizeof *p);
        if (!p) {
            return NULL;
        }
        p->record = record;
        p->hot.current = &p->outside;
        p->next = places;
        places = p;
    }
    return p;
}

/* The arena's copy of the file, with zeroed cells; 0 without memory. */
static uint32_t table_new(const struct stint_impl_lines_file *file,
                          const struct arena_thread *record) {
    struct arena_header *h = arena_header();
    size_t bytes =
        arena_lines_cells_at(file->count) + file->count * sizeof(struct stint_impl_line_cell);
    uint32_t name = arena_text_put(file->name, strlen(file->name));
    uint32_t content = 0;
    if (file->content) {
        content = arena_text_put(file->content, strlen(file->content));
    }
    uint32_t unit = arena_get(bytes, ARENA_RECORD);
    if (!name || !unit) {
        return 0;
    }
    struct arena_lines *table = arena_at(unit);
    table->file = name;
    table->count = file->count;
    table->content = content;
    table->thread = (uint32_t)((size_t)((const char *)record - arena.base) / STINT_IMPL_UNIT);
    memcpy(table + 1, file->lines, file->count * sizeof *file->lines);
    table->next = h->first_lines;
    __atomic_store_n(&h->first_lines, unit, __ATOMIC_RELEASE);
    return unit;
}

/* Whether the clock is the one that markers read. */
static int clock_fits(void) {
    return clock_kind() == CLOCK_KIND_COUNTER;
}

static struct line_book *book_of(struct line_place *p, const struct stint_impl_lines_file *file) {
    uint64_t hash = file_hash(file);
    struct line_book *b = p->books;
    while (b && b->file != hash) {
        b = b->next;
    }
    if (!b) {
        b = scratch_get(&lines_memory, sizeof *b);
        if (!b) {
            return NULL;
        }
        b->file = hash;
        b->hot.thread = &p->hot;
        b->next = p->books;
        p->books = b;
        /* With another clock there is no table: its rows would say that the lines never ran. */
        if (clock_fits()) {
            b->table = table_new(file, p->record);
        }
    }
    return b;
}

static struct stint_impl_line_cell *book_cells(const struct line_book *b) {
    if (!b->table) {
        return NULL;
    }
    struct arena_lines *table = arena_at(b->table);
    return (void *)((char *)table + arena_lines_cells_at(table->count));
}

/* One line, once. Under the lock. */
static void clock_tell(void) {
    if (!clock_was_named) {
        clock_was_named = 1;
        log_warning(
            "times of source lines are not recorded: they need the processor's counter, and "
            "the clock is %s; STINT_CLOCK=tsc selects the counter",
            clock_name());
    }
}

static struct line_book *book_open(struct thread_block *b,
                                   const struct stint_impl_lines_file *file) {
    struct line_place *p = place_of(b->record);
    struct line_book *book = NULL;
    if (p) {
        book = book_of(p, file);
    }
    if (!book || (!book->table && clock_fits())) {
        arena_lose(STINT_STATUS_NO_NODE, 1);
    }
    if (!book) {
        return NULL;
    }
    book->hot.cells = NULL;
    if (config.enable && clock_fits()) {
        book->hot.cells = book_cells(book);
    } else if (config.enable) {
        clock_tell();
    }
    book->hot.gate = registry_gate();
    if (thread_slow_only()) {
        book->hot.gate = STINT_IMPL_SHUT;
    }
    if (book->hot.cells && p->hot.current == &p->outside) {
        STINT_IMPL_STORE(&p->hot.last, clock_ticks());
    }
    return book;
}

struct stint_impl_lines_book *lines_open(const struct stint_impl_lines_file *file,
                                         struct stint_impl_lines_book **mine) {
    ERRNO_KEEP;
    struct thread_block *b = thread_enter(1);
    if (!b) {
        return &no_book;
    }
    registry_lock();
    struct line_book *book = book_open(b, file);
    if (book) {
        b->lines = book->hot.thread;
    }
    registry_unlock();
    thread_leave(b);
    if (!book) {
        return &no_book;
    }
    *mine = &book->hot;
    return &book->hot;
}

/* Outside of functions, the current cell is not one of the arena's. */
uint64_t lines_here(const struct thread_block *b) {
    if (!b->lines) {
        return 0;
    }
    uintptr_t cell = (uintptr_t)__atomic_load_n(&b->lines->current, __ATOMIC_RELAXED);
    uintptr_t base = (uintptr_t)b->hot.base;
    if (cell < base || cell - base >= arena.size) {
        return 0;
    }
    return (cell - base) / sizeof(struct stint_impl_line_cell);
}

static void place_close(struct line_place *p) {
    for (struct line_book *b = p->books; b; b = b->next) {
        b->hot.cells = NULL;
        b->hot.gate = 0; /* of no thread: looked up again */
    }
    p->hot.current = &p->outside;
    ++p->hot.generation;
}

void lines_thread_ends(const struct arena_thread *record) {
    for (struct line_place *p = places; p; p = p->next) {
        if (p->record == record) {
            place_close(p);
        }
    }
}

void lines_forget_all(void) {
    for (struct line_place *p = places; p; p = p->next) {
        place_close(p); /* stays: functions that the forking thread is in have books of it */
    }
    places = NULL;
}
