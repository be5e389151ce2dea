/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time per source line (stint/lines.h): which cells a thread's markers add to. Each thread has a
 * book for each file whose instrumented functions it has called; the cells are in the arena. Books
 * and places of threads are never freed, and continued by later threads as recorders are.
 */
#ifndef STINT_LINE_BOOK_H
#define STINT_LINE_BOOK_H

#include <stdint.h>

#include "base/api.h"
#include "stint/lines.h"

struct arena_thread;
struct thread_block;

struct stint_impl_lines_book *lines_open(const struct stint_impl_lines_file *file,
                                         struct stint_impl_lines_book **mine);
/* The cell of the calling thread's current line, as its offset in the arena in cells; 0: it is in
 * no instrumented function. b: the thread's own block. In any code that the thread calls. */
uint64_t lines_here(const struct thread_block *b);
/* At the end of the thread with that record, under the registry's lock. */
void lines_thread_ends(const struct arena_thread *record);
/* In the child of a fork, under the registry's lock. */
void lines_forget_all(void);

#endif
