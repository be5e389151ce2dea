/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes that end on another thread than the one that opened them: a coroutine or fiber may have
 * taken them there. Their time on the two threads cannot be told apart, so they have no sample.
 */
#ifndef STINT_MOVED_H
#define STINT_MOVED_H

#include <stdint.h>

/* Makes the frame of that guard and opening MOVED, on the thread that has it open, and counts the
 * scope as lost. No other function writes to a frame of another running thread. Its guard is
 * written by compare and exchange: the owner may close or abandon the scope at the same time. Any
 * thread. */
void moved_end(uint64_t guard, uint64_t opened);

#endif
